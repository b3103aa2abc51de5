from tradewind.launch.benchmark import bench as bench
from tradewind.launch.job import find_launcher as find_launcher
from tradewind.launch.job import is_rank as is_rank
from tradewind.launch.job import run as run
from tradewind.launch.sizes import bench_sizes as bench_sizes

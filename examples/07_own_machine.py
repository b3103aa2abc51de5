"""A machine of your own, and what one of its values does.

python examples/07_own_machine.py
"""

from pathlib import Path

import tradewind as tw

MACHINE = """
title = "a small cluster: 16 nodes on one switch"
routing = "direct"

[topology]
kind = "crossbar"
nodes = 16

[link]
bandwidth = "100Gbit/s"
latency = "500ns"

[nic]
injection_bandwidth = "100Gbit/s"
ejection_bandwidth = "100Gbit/s"
latency = "500ns"
send_overhead = "300ns"
receive_overhead = "300ns"

[node]
memory_bandwidth = "100GB/s"

[packet]
size = "4KiB"

[source]
topology = "an example"
link = "an example"
nic = "an example"
node = "an example"
packet = "an example"
"""

Path("cluster.toml").write_text(MACHINE)
halo = tw.Halo(tw.Blocks(tw.Grid(602, 568, 60), split=(4, 4)), width=3, periodic=("x", "y")).schedule("sweep")
exchange = halo.simulate("cluster.toml", fields=4)
print(f"as it is: {exchange['time_s'] * 1e6:.0f} us, bottleneck: {exchange['bound_by']}")
faster = {"nic.injection_bandwidth": "400Gbit/s", "nic.ejection_bandwidth": "400Gbit/s"}
ratio = exchange["time_s"] / halo.simulate("cluster.toml", fields=4, settings=faster)["time_s"]
print(f"with four times the NIC's bandwidth: {ratio:.1f} times as fast")

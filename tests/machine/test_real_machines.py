"""Machine files of real systems against what is published of them as a whole, which no value of the files repeats."""

import pytest

from tradewind.machine import load_machine
from tradewind.simulation import simulate
from tradewind.workload.exchange import Exchange

# Nodes that the system has (TOP500, the operator's pages, the papers that the files name): the model has these or more.
NODES = {
    "piz-daint": 5704 + 1813,
    "beskow": 1676,
    "frontier": 9408,
    "fugaku": 158_976,
    "beaufix": 1836,
    "barbora": 201,
    "escape-edr": 128,
    "nec-sx6": 8,
    "sgi-origin": 196 // 4,
    "dgx-1p": 8,
    "dgx-1v": 8,
    "dgx-2": 16,
    "archer2": 5860,
    "archer": 4920,
    "athena": 512,
    "peta4-skylake": 768,
    "tesseract": 800,
    "cirrus": 280,
    "polaris": 560,
    "lumi-c": 2048,
    "lumi-g": 2978,
    "alps": 2688,
    "eiger": 1024,
    "jupiter": 25 * 240,
    "aurora": 10_624,
    "marenostrum5": 6408,
}
# Minimum and maximum seconds of a message between neighbours: of MPI (WP-Aries01-1112: 1.2 to 1.3 us; Uehara et al.
# 2002: 5.58 us; IT4Innovations: 0.6 us), and for Fugaku of a put, 0.49 us (Ajima et al. 2018), with the overheads.
LATENCY = {
    "piz-daint": (1.2e-6, 1.3e-6),
    "beskow": (1.2e-6, 1.3e-6),
    "fugaku": (0.49e-6 + 0.5e-6, 0.50e-6 + 0.5e-6),
    "nec-sx6": (5.5e-6, 5.7e-6),
    "barbora": (0.58e-6, 0.62e-6),
    "archer": (1.2e-6, 1.3e-6),
    "isambard": (1.2e-6, 1.3e-6),
}
# Peak flop/s of the whole system, over its real nodes (TOP500; Fugaku 537 Pflop/s in boost mode, Sato et al. 2020).
PEAK = {
    "piz-daint": (5704, 27.15e15),
    "beskow": (1676, 1.974e15),
    "frontier": (9408, 1.686e18),
    "fugaku": (158_976, 537.2e15),
    "beaufix": (1836, 2.585e15),
    "nec-sx6": (8, 512e9),
    "marenostrum5": (6408, 46e15),  # of the general purpose partition, https://iotribune.com/?p=30933
}


# Switches and nodes of table 1 of Zheng & Marguinaud (2018), with the switch counts that its geometries really have.
TABLE_1 = {
    "torus-M": (15625, 390625),
    "fattree-M": (62500, 390625),
    "dragonfly-MM": (15625, 390625),
    "dragonfly-SL": (78125, 390625),
    "dragonfly-LS": (78125, 390625),
    "torus-L": (46875, 1171875),
    "fattree-L": (143748, 1185921),
    "dragonfly-ML": (46875, 1171875),
}

# Flop per joule of HPL (Green500 of June 2020, June 2022, November 2023, June 2024), which no value of the files has.
GREEN = {"fugaku": 14.67e9, "frontier": 52.23e9, "lumi-g": 53.43e9, "marenostrum5": 6.97e9}


@pytest.mark.parametrize("name", GREEN)
def test_the_peak_over_the_busy_power_is_above_what_hpl_reached_per_joule(name):
    machine = load_machine(name).machine
    assert machine.power is not None
    assert machine.power.idle < machine.power.waiting < machine.power.busy
    if machine.node.flops is not None:  # HPL reaches 60 to 90 % of it
        assert 0.6 < GREEN[name] / (machine.node.flops / machine.power.busy) < 0.9


@pytest.mark.parametrize("name", TABLE_1)
def test_a_shipped_network_has_the_size_of_table_1(name):
    topology = load_machine(name).machine.build().topology
    assert (topology.switches, topology.nodes) == TABLE_1[name]


@pytest.mark.parametrize("name", NODES)
def test_nodes_are_those_of_the_system(name):
    nodes = load_machine(name).machine.build().nodes
    assert NODES[name] <= nodes <= 3 * NODES[name]


@pytest.mark.parametrize("name", LATENCY)
def test_a_small_message_takes_as_long_as_is_published(name):
    minimum, maximum = LATENCY[name]
    result = simulate(Exchange("allreduce", 2, count=1), name, threads=1)
    assert minimum <= result["time_s"] <= maximum


@pytest.mark.parametrize("name", PEAK)
def test_the_peak_of_all_nodes_is_that_of_the_system(name):
    nodes, peak = PEAK[name]
    flops = load_machine(name).machine.node.flops
    assert flops is not None
    assert nodes * flops == pytest.approx(peak, rel=0.01)


def global_bandwidth(name):
    """Return the bandwidth of all links between groups, one way."""
    machine = load_machine(name).machine
    topology = machine.build().topology
    ends = sum(topology.port(s, p)[0] == "global" for s in range(topology.switches) for p in range(topology.radix))
    return ends / 2 * (machine.link.global_.bandwidth or machine.link.bandwidth)


def test_the_global_bandwidth_of_frontier():
    """Atchley et al. 2023: 270 TB/s each way between its compute groups."""
    assert global_bandwidth("frontier") == pytest.approx(270e12, rel=0.01)


def test_the_global_bandwidth_of_aurora():
    """Ibeid et al. 2025: 1.38 PB/s in both directions together between its compute groups."""
    assert 2 * global_bandwidth("aurora") == pytest.approx(1.38e15, rel=0.01)


def test_bandwidths_of_nodes():
    fugaku, dgx_2 = (load_machine(name).machine.nic for name in ("fugaku", "dgx-2"))
    assert fugaku.count * fugaku.injection_bandwidth == pytest.approx(40.8e9)  # Ajima et al. 2018
    assert 16 * dgx_2.injection_bandwidth == pytest.approx(2.4e12)  # ESCAPE D3.4, section 3.1.2


def test_a_cray_group_has_384_nodes():
    """And 16 x 15 / 2 links in each of 6 chassis, 6 x 5 / 2 in each of 16 columns (WP-Aries01-1112)."""
    topology = load_machine("beskow").machine.build().topology
    assert topology.nodes / 5 == 384
    ends = sum(topology.port(s, p)[0] == "local" for s in range(96) for p in range(topology.radix))
    assert ends / 2 == 6 * 120 + 16 * 15

#include "machine/machine.hpp"

namespace tradewind::machine {

const std::vector<RoutingEntry>& routings() {
    static const std::string kim = "Kim, Dally, Scott & Abts 2008", singh = "Singh 2005", valiant = "Valiant 1982";
    static const std::vector<RoutingEntry> entries{
        {"dimension-order", "torus", "shortest way along one dimension after another", "Dally & Seitz 1987"},
        {"valiant", "torus", "by way of a random switch, each half in dimension order", valiant},
        {"ugal", "torus", "dimension-order or valiant, by the queues at the source switch", singh},
        {"d-mod-k", "fattree", "the uplink is a digit of the destination: no conflict for shift permutations",
         "Zahavi, Johnson, Kerbyson & Lang 2010"},
        {"round-robin", "fattree", "every switch sends packets to its uplinks in turn", "SST/macro manual"},
        {"round-robin-staggered", "fattree", "the same, but each switch of a level begins at another port", ""},
        {"adaptive", "fattree", "the uplink with the shortest queue, a random one of those alike",
         "Kim, Dally, Towles & Gupta 2005 (adaptive routing in high-radix Clos networks)"},
        {"minimal", "dragonfly", "a shortest path, one fixed global link for a pair of ranks", kim},
        {"valiant", "dragonfly", "by way of a random group, inside a group by way of a random switch",
         valiant + "; " + kim},
        {"valiant-router", "dragonfly", "by way of a random switch of any group, inside a group of the same", valiant},
        {"ugal", "dragonfly", "minimal or valiant, by the queues at the source switch", singh + "; " + kim},
        {"ugal-sst71", "dragonfly",
         "minimal paths and 6 channels: what UGAL comes to in SST/macro 7.1, where the queues it sees are always empty",
         "SST/macro 7.1, the simulator of Zheng & Marguinaud 2018"},
        {"par", "dragonfly", "ugal, decided anew at every switch of the source group", "Jiang, Kim & Dally 2009"},
        {"minimal", "dragonflyplus", "up, across and down, one fixed spine or global link for a pair of ranks",
         "Shpiner et al. 2017"},
        {"valiant", "dragonflyplus", "by way of a random leaf of any group, inside a group of the same", valiant},
        {"ugal", "dragonflyplus", "minimal or valiant, by the queues at the source leaf", singh},
        {"minimal", "hyperx", "one dimension after another, one fixed one of parallel links for a pair of ranks",
         "Ahn et al. 2009"},
        {"valiant", "hyperx", "by way of a random switch", valiant},
        {"ugal", "hyperx", "minimal or valiant, by the queues at the source switch", singh},
        {"minimal", "complete", "the link to the destination's switch", ""},
        {"valiant", "complete", "by way of a random switch", valiant},
        {"ugal", "complete", "minimal or valiant, by the queues at the source switch", singh},
        {"minimal", "hypercube", "one dimension after another (e-cube)", "Dally & Seitz 1987"},
        {"valiant", "hypercube", "by way of a random switch", valiant},
        {"ugal", "hypercube", "minimal or valiant, by the queues at the source switch", singh},
        {"minimal", "slimfly", "a shortest path of at most two links", "Besta & Hoefler 2014"},
        {"valiant", "slimfly", "by way of a random switch", valiant + "; Besta & Hoefler 2014"},
        {"ugal", "slimfly", "minimal or valiant, by the queues at the source switch", singh + "; Besta & Hoefler 2014"},
        {"direct", "cubemesh", "NVLink where it joins the two GPUs, else PCIe", "CUDA peer-to-peer copies"},
        {"minimal", "cubemesh", "by way of a third GPU where NVLink does not join the two", ""},
        {"minimal", "graph", "one fixed shortest path for a pair of switches", ""},
        {"direct", "crossbar", "the one switch", ""},
    };
    return entries;
}

const std::vector<TopologyEntry>& topologies() {
    static const std::vector<TopologyEntry> entries{
        {"torus", "shape, nodes_per_switch", "n-dimensional torus", "Dally & Seitz 1987"},
        {"fattree", "levels, down_ports, up_ports",
         "k-ary n-tree with full bandwidth at every level; with other numbers of ports per level, tapered fat-trees",
         "Petrini & Vanneschi 1997; Ohring, Ibel, Das & Kumar 1995"},
        {"dragonfly", "rows, columns, groups, nodes_per_switch, global_links, arrangement",
         "groups of rows x columns switches, rows and columns fully connected, all pairs of groups connected",
         "Kim, Dally, Scott & Abts 2008; Alverson, Froese, Kaplan & Roweth 2015"},
        {"dragonflyplus", "leaves, spines, groups, nodes_per_switch, global_links, arrangement",
         "groups of leaf and spine switches, all leaves joined to all spines, spines to those of all other groups",
         "Shpiner et al. 2017; Flajslik, Borch & Parker 2018 (megafly)"},
        {"hyperx", "shape, links, nodes_per_switch", "n-dimensional grid, fully connected along every dimension",
         "Ahn, Binkert, Davis, McLaren & Schreiber 2009"},
        {"complete", "switches, links, nodes_per_switch", "every switch joined to all others", ""},
        {"hypercube", "dimensions, links, nodes_per_switch", "2^dimensions switches",
         "Laudon & Lenoski 1997 (SGI Origin)"},
        {"slimfly", "q, nodes_per_switch", "2 q^2 switches, any two at most two links apart (McKay-Miller-Siran)",
         "Besta & Hoefler 2014; Hafner 2004"},
        {"cubemesh", "gpu, boxes", "DGX-1: 8 GPUs a box joined by NVLink, and PCIe; boxes joined by InfiniBand",
         "NVIDIA 2017, white paper WP-08437-002"},
        {"graph", "file, nodes_per_switch, node_switches", "any graph, from a file of links", ""},
        {"crossbar", "nodes", "all nodes on one switch", ""},
    };
    return entries;
}

}  // namespace tradewind::machine

#pragma once

#include <memory>

#include "machine/topology/shortest_paths.hpp"
#include "machine/topology/topology.hpp"

namespace tradewind::machine {

// DGX-1 boxes: in each 8 GPUs joined by NVLink as a hybrid cube-mesh, two fully connected fours with a link between
// those of the same place. With P100 GPUs every pair that is joined has one link, with V100 GPUs some have two (NVIDIA
// 2017, white paper WP-08437-002; `nvidia-smi topo -m`). A GPU is a switch with one node.
//
// Beside NVLink, all of the global kind: each pair of GPUs shares a PCIe switch, the four PCIe switches of a box join
// in one host switch (its two CPUs and what joins them, as if that were never the narrow place), and several boxes are
// joined by an adapter on every PCIe switch and one InfiniBand switch for all.
//
// Switches: all GPUs, box by box; all PCIe switches; the hosts; the InfiniBand switch, if there are several boxes.
// Ports of a GPU: 2 * peer + lane to a GPU of its box, `pcie_port`, the node; of a PCIe switch: its two GPUs, the host,
// InfiniBand; of the others: the PCIe switches.
class CubeMesh : public Topology {
  public:
    enum class Gpu { p100, v100 };
    static constexpr std::uint32_t gpus_per_box = 8, pcie_per_box = 4, pcie_port = 16, host_port = 2, fabric_port = 3;

    CubeMesh(Gpu gpu, std::uint32_t boxes);

    std::string name() const override { return "cubemesh"; }
    std::string describe() const override;
    std::uint32_t switches() const override { return first_host() + boxes_ + (boxes_ > 1); }
    std::uint32_t radix() const override;
    std::uint32_t nodes() const override { return gpus_per_box * boxes_; }
    std::uint32_t nodes_per_switch() const override { return 1; }
    std::uint32_t first_terminal() const override { return pcie_port + 1; }
    PortEnd port(std::uint32_t switch_id, std::uint32_t port) const override;
    Distance distance(std::uint32_t from, std::uint32_t to) const override { return paths_->distance(*this, from, to); }

    std::uint32_t groups() const override { return boxes_; }
    std::uint32_t boxes() const { return boxes_; }
    std::uint32_t first_pcie() const { return gpus_per_box * boxes_; }
    std::uint32_t first_host() const { return first_pcie() + pcie_per_box * boxes_; }
    std::uint32_t fabric() const { return first_host() + boxes_; }
    // Links between two GPUs of a box, 0 to 7.
    std::uint32_t nvlinks(std::uint32_t a, std::uint32_t b) const;
    const ShortestPaths& paths() const { return *paths_; }

  private:
    PortEnd gpu_port(std::uint32_t gpu, std::uint32_t port) const;
    PortEnd pcie_switch_port(std::uint32_t pcie, std::uint32_t port) const;

    Gpu gpu_;
    std::uint32_t boxes_;
    std::shared_ptr<const ShortestPaths> paths_;
};

}  // namespace tradewind::machine

// DGX-1: two ways between GPUs of a box that NVLink does not join.
#pragma once

#include "machine/routing/packet.hpp"
#include "machine/topology/cubemesh.hpp"

namespace tradewind::machine {

// The NVLinks between two GPUs are used alike, packet by packet.
inline std::uint32_t nvlink_port(const CubeMesh& mesh, std::uint32_t gpu, std::uint32_t peer, std::uint32_t m) {
    const std::uint32_t a = gpu % CubeMesh::gpus_per_box, b = peer % CubeMesh::gpus_per_box;
    return 2 * b + memory::pick(m, 0, mesh.nvlinks(a, b));
}

// Fewest links: two NVLinks where one does not lead there. Hardware does not pass on what is for another GPU, so this
// is what a library does that lets GPUs do it.
class CubeMeshShortest {
  public:
    explicit CubeMeshShortest(const CubeMesh& mesh) : mesh_(mesh) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        const std::uint32_t port = mesh_.paths().port(sw, dst_sw);
        if (sw >= mesh_.first_pcie() || port == CubeMesh::pcie_port) return port;
        return nvlink_port(mesh_, sw, port / 2, m);
    }
    int channels() const { return mesh_.paths().channels(); }
    std::uint32_t channel(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t, std::uint32_t) const {
        return mesh_.paths().channel(sw, dst_sw);
    }

  private:
    CubeMesh mesh_;  // shares its table
};

// NVLink where it joins the two GPUs, else PCIe and the host, as copies between GPUs go. NVLinks are whole paths and
// the rest is a tree, so one virtual channel is enough.
class CubeMeshDirect {
  public:
    explicit CubeMeshDirect(const CubeMesh& mesh) : mesh_(mesh) {}

    std::uint32_t port(std::uint32_t sw, std::uint32_t dst_sw, std::uint32_t m) const {
        const std::uint32_t box = dst_sw / CubeMesh::gpus_per_box, pcie = dst_sw / 2;
        if (sw < mesh_.first_pcie()) {
            const bool joined = sw / CubeMesh::gpus_per_box == box &&
                                mesh_.nvlinks(sw % CubeMesh::gpus_per_box, dst_sw % CubeMesh::gpus_per_box) > 0;
            return joined ? nvlink_port(mesh_, sw, dst_sw, m) : CubeMesh::pcie_port;
        }
        if (sw < mesh_.first_host()) {
            const std::uint32_t here = sw - mesh_.first_pcie();
            if (here == pcie) return dst_sw % 2;
            return here / CubeMesh::pcie_per_box == box ? CubeMesh::host_port : CubeMesh::fabric_port;
        }
        return sw < mesh_.fabric() ? pcie % CubeMesh::pcie_per_box : pcie;
    }
    int channels() const { return 1; }
    std::uint32_t channel(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) const { return 0; }

  private:
    CubeMesh mesh_;
};

}  // namespace tradewind::machine

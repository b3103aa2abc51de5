#include "machine/topology/cubemesh.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tradewind::machine {

namespace {

// Links between GPUs of the same four (b a and b alike in both fours), and to the GPU of the same place in the other.
// First of P100, then of V100. (One table: GCC 12 with -fsanitize=undefined reads zeros from a conditional of two.)
constexpr std::uint8_t inside[2][4][4] = {{{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}},
                                          {{0, 1, 1, 2}, {1, 0, 2, 1}, {1, 2, 0, 2}, {2, 1, 2, 0}}};
constexpr std::uint8_t across[2][4] = {{1, 1, 1, 1}, {2, 2, 1, 1}};

}  // namespace

CubeMesh::CubeMesh(Gpu gpu, std::uint32_t boxes) : gpu_(gpu), boxes_(boxes) {
    if (boxes < 1 || boxes > 256) throw InputError("cubemesh: 1 to 256 boxes are allowed");
    paths_ = std::make_shared<ShortestPaths>(*this);
}

std::string CubeMesh::describe() const {
    return "cube-mesh of 8 " + std::string(gpu_ == Gpu::p100 ? "P100" : "V100") + " GPUs" +
           (boxes_ > 1 ? " in each of " + std::to_string(boxes_) + " boxes" : "");
}

std::uint32_t CubeMesh::radix() const {
    return std::max(first_terminal() + 1, boxes_ > 1 ? pcie_per_box * boxes_ : 0);
}

std::uint32_t CubeMesh::nvlinks(std::uint32_t a, std::uint32_t b) const {
    const int kind = gpu_ == Gpu::v100 ? 1 : 0;
    if (a / 4 == b / 4) return inside[kind][a % 4][b % 4];
    return a % 4 == b % 4 ? across[kind][a % 4] : 0;
}

PortEnd CubeMesh::port(std::uint32_t switch_id, std::uint32_t port) const {
    if (switch_id < first_pcie()) return gpu_port(switch_id, port);
    if (switch_id < first_host()) return pcie_switch_port(switch_id - first_pcie(), port);
    if (switch_id < fabric()) {
        if (port >= pcie_per_box) return {};
        return {LinkKind::global, first_pcie() + (switch_id - first_host()) * pcie_per_box + port, host_port};
    }
    if (port >= pcie_per_box * boxes_) return {};
    return {LinkKind::global, first_pcie() + port, fabric_port};
}

PortEnd CubeMesh::gpu_port(std::uint32_t gpu, std::uint32_t port) const {
    const std::uint32_t place = gpu % gpus_per_box;
    if (port == pcie_port) return {LinkKind::global, first_pcie() + gpu / 2, gpu % 2};
    if (port == first_terminal()) return {LinkKind::terminal, 0, 0};
    if (port > pcie_port || port % 2 >= nvlinks(place, port / 2)) return {};
    return {LinkKind::local, gpu - place + port / 2, 2 * place + port % 2};
}

PortEnd CubeMesh::pcie_switch_port(std::uint32_t pcie, std::uint32_t port) const {
    if (port < 2) return {LinkKind::global, 2 * pcie + port, pcie_port};
    if (port == host_port) return {LinkKind::global, first_host() + pcie / pcie_per_box, pcie % pcie_per_box};
    if (port == fabric_port && boxes_ > 1) return {LinkKind::global, fabric(), pcie};
    return {};
}

}  // namespace tradewind::machine

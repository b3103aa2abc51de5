"""A writer on a rank of the model, which carries out the orders of the model as a server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import TradewindError
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.messages import encoded, from_json
from tradewind.fieldserver.server.orders import Orders, error_of
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Writer

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array


class LocalServer(Orders):
    """Writes and reads on this rank. The model's side, in C++, calls `carry_out_json` and `status`.

    `asynchronous`: on a thread; else blocks and steps are written when their order has been carried out. `fields`:
    those that are defined already.
    """

    def __init__(
        self, plan: OutputPlan, shares: int, *, asynchronous: bool, fields: Mapping[str, OutputField] | None = None
    ) -> None:
        super().__init__(plan, Writer(plan, shares=shares, asynchronous=asynchronous))
        self.fields.update(fields or {})
        self.geometries.update({each.geometry.digest: each.geometry for each in self.fields.values()})
        self._values: list[Array] = []

    def carry_out_json(self, order: bytes, values: list[Array]) -> bytes:
        """Carry out an order; returns its reply, an error or nothing. `values`: whole fields, [level][point]."""
        self._values = values
        try:
            return self.carry_out(from_json(order)) or b""
        except TradewindError as error:
            return encoded(str(error))
        except Exception as error:
            return encoded(f"{type(error).__name__}: {error}")
        finally:
            self._values = []

    def status(self) -> bytes:
        """Return what is new, as a server sends it."""
        return self.new_status().pack()

    def _do_define(self, **arguments: Any) -> bytes:
        return self.defined(**arguments)

    def _do_check(self, steps: int | None) -> bytes:
        return self.checked(steps)

    def _do_block(self, slot: int, number: int, entries: list[Any]) -> None:
        self.submit(slot, number, entries, self._values)

    def _do_prefetch(self, paths: list[str]) -> None:
        self.ahead.ask(paths)

    def _do_send(self, path: str, name: str, alike: str, shape: dict[str, Any]) -> bytes:
        (whole,) = self._values
        return error_of(lambda: np.copyto(whole, self.input_field(path, name, Shape(**shape)), casting="same_kind"))

    def _do_close(self, awaited: bool = True) -> None:
        """Finish: a thread that the interpreter ends would keep the locks of libraries."""
        self.writer.close()

"""Reads a FlatBuffer into Python values, by the tables of a schema (specs/flatbuffer_schema.py).

The buffer is not trusted. Every offset, vtable, vector and string is checked to lie within it before it is read, and
the number of values read is limited: tables that share a part can otherwise repeat it without end. The depth is
that of the schema, which has no table within itself. A damaged buffer raises SpecError with the field's path and the
position of the byte.
"""

import struct

from halcyon.operands import SpecError

U16, I32, U32 = (struct.Struct(f"<{letter}").unpack_from for letter in "HiI")
SIZES = {letter: struct.calcsize(f"<{letter}") for letter in "?bBhHiIqQfd"}
MOST_SHARED = 16  # at most as many bytes are read as the buffer has, times this
LONGEST_NAME = 1024


class Record:
    """A table; its attributes are the fields. A table that is absent is None, an absent vector is empty."""

    def __init__(self, values):
        self.__dict__ = values


class Schema:
    def __init__(self, tables, unions):
        self.unions = unions
        self.tables = {name: [self._row(position, *row) for position, row in enumerate(rows)]
                       for name, rows in tables.items()}
        self.defaults = {name: {row[1]: row[5] for row in rows} for name, rows in self.tables.items()}

    def _row(self, position, name, kind, of, default):
        if kind == "scalar":
            return 4 + 2 * position, name, kind, struct.Struct("<" + of).unpack_from, SIZES[of], default
        if kind == "vector":
            return 4 + 2 * position, name, kind, of, SIZES[of], memoryview(b"") if of == "B" else ()
        return 4 + 2 * position, name, kind, of, 4, () if kind == "tables" else b"" if kind == "string" else None

    def empty(self, name):
        """A table with the default of each field."""
        return Record(dict(self.defaults[name]))


class Reader:
    def __init__(self, schema, data):
        self.schema, self.data, self.view, self.size = schema, data, memoryview(data), len(data)
        self.left = MOST_SHARED * self.size

    def root(self, name):
        if self.size < 8:
            raise SpecError(f"{self.size} bytes are too few for a model")
        return self._table(name, self._target(0))

    def _fail(self, at, what):
        raise SpecError(f"damaged at byte {at}: {what}")

    def _take(self, at, count):
        self.left -= count
        if self.left < 0:
            self._fail(at, "its tables share too many values")

    def _target(self, at):
        target = at + U32(self.data, at)[0]
        if target > self.size - 4:
            self._fail(at, f"an offset to byte {target}, beyond the end of the file at {self.size}")
        return target

    def _table(self, name, at):
        data, size = self.data, self.size
        vtable = at - I32(data, at)[0]
        if not 0 <= vtable <= size - 4:
            self._fail(at, f"a vtable at byte {vtable}, outside of the file of {size} bytes")
        vtable_size, table_size = U16(data, vtable)[0], U16(data, vtable + 2)[0]
        if vtable_size < 4 or vtable_size % 2 or vtable + vtable_size > size:
            self._fail(vtable, f"a vtable of {vtable_size} bytes")
        if table_size < 4 or at + table_size > size:
            self._fail(vtable + 2, f"a table of {table_size} bytes at byte {at} of {size}")
        self._take(at, table_size)
        values = dict(self.schema.defaults[name])
        for slot, field, kind, of, width, _ in self.schema.tables[name]:
            if slot >= vtable_size:
                break
            offset = U16(data, vtable + slot)[0]
            if not offset:
                continue
            if offset + (width if kind == "scalar" else 4) > table_size:
                self._fail(vtable + slot, f"field {field} ends beyond its table of {table_size} bytes")
            if kind == "scalar":
                values[field], = of(data, at + offset)
            else:
                values[field] = self._read(field, kind, of, at + offset, width, values)
        return Record(values)

    def _read(self, field, kind, of, at, width, values):
        try:
            target = self._target(at)
            if kind == "table":
                return self._table(of, target)
            if kind == "union":
                return self._union(of, values[f"{field}_type"], target)
            count = U32(self.data, target)[0]
            length = count * (1 if kind == "string" else width)
            if target + 4 + length > self.size:
                self._fail(target, f"{count} elements end beyond the end of the file of {self.size} bytes")
            if kind == "tables":
                return self._tables(of, target + 4, count)
            if kind == "string":
                return bytes(self.view[target + 4:target + 4 + min(length, LONGEST_NAME)])
            if of == "B":
                return self.view[target + 4:target + 4 + length]
            self._take(target, length)
            return struct.unpack_from(f"<{count}{of}", self.data, target + 4)
        except SpecError as error:
            raise SpecError(f"{field}: {error}") from None

    def _tables(self, name, start, count):
        made = []
        self._take(start, 4 * count)
        try:
            for at in range(start, start + 4 * count, 4):
                made.append(self._table(name, self._target(at)))
        except SpecError as error:
            raise SpecError(f"[{len(made)}] {error}") from None
        return made

    def _union(self, name, number, target):
        members = self.schema.unions[name]
        if number == 0 or number > len(members):
            return None  # none, or one of a newer format
        member, table = members[number - 1]
        made = self._table(table, target)
        made.union_member = member
        return made

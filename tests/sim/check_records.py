#!/usr/bin/env python3
"""Checks that the rows of sim/wire/wire_records.c cover every member of the structures of sim/hal.h
that cross a socket, and every field of their messages in sim/wire/wire.proto, in order.

A member is covered by the row that converts it, by the row whose count it is, or, for a structure
within a structure, by rows of its own members.  A structure that a covered one refers to must have
a record, too."""
import pathlib
import re
import sys

# Structures whose conversion is code, with the members that the code handles.
BY_CODE = {'hal_memory': {'kind', 'protection', 'address', 'fd', 'offset', 'size'}}


def structures(text):
    """Members of each structure: {name: [(member, type)]}."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    found = {}
    for name, body in re.findall(r'^struct (\w+) \{\n(.*?)^\};', text, re.M | re.S):
        members = []
        for declaration in body.split(';'):
            declaration = ' '.join(declaration.split())
            match = re.match(r'((?:const |struct |enum )*\w+) (.*)', declaration)
            if not match or '(' in declaration:
                continue
            for member in match[2].split(','):
                members.append((re.sub(r'[\s*]|const|\[.*', '', member), match[1]))
        found[name] = members
    return found


def messages(text):
    text = re.sub(r'//[^\n]*', '', text)
    return {name: [field for field, _ in
                   sorted(re.findall(r'(\w+) = (\d+);', body), key=lambda f: int(f[1]))]
            for name, body in re.findall(r'^message (\w+) \{(.*?)^\}', text, re.M | re.S)}


def arguments(text):
    """The arguments of a macro, at commas outside of parentheses."""
    parts, depth = [''], 0
    for c in text:
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += c
    return [' '.join(p.split()) for p in parts]


def records(text):
    """Of each structure: its message, and for each row (field, members that it covers, record)."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    found = {}
    for block in re.findall(r'^#define TYPE \w+\n.*?^#undef TYPE', text, re.M | re.S):
        structure = re.match(r'#define TYPE (\w+)', block)[1]
        message = re.search(r'wire__(\w+)__descriptor', block)[1]
        message = ''.join(word.capitalize() for word in message.split('_'))
        rows = []
        body = re.search(r'_rows\[\] = \{(.*?)\};', block, re.S)[1]
        for macro, in_macro, plain in re.findall(
                r'(MEMBER|ARRAY|ONE|NAMED|LIST)\(((?:[^()]|\([^()]*\))*)\)'
                r'|\{ ("\w+", \w+, offsetof\([^)]*\)) \}', body):
            inner = in_macro or plain
            a = arguments(inner)
            counts = re.findall(r'COUNT\(([\w.]+)\)', inner)
            record = re.search(r'&(\w+)', inner)
            if macro == 'LIST':
                rows.append((a[0].strip('"'), [a[1], a[2]], a[3]))
            elif macro == 'NAMED':
                rows.append((a[0].strip('"'), [a[1]] + counts, None))
            elif macro:
                rows.append((a[0], [a[0]] + counts, record and record[1]))
            else:
                member = re.search(r'offsetof\(struct TYPE, ([\w.]+)\)', inner)[1]
                rows.append((a[0].strip('"'), [member], None))
        found[structure] = (message, rows)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    structs = structures((root / 'sim/hal.h').read_text())
    protos = messages((root / 'sim/wire/wire.proto').read_text())
    known = records((root / 'sim/wire/wire_records.c').read_text())
    faults = []

    def cover(structure, covered, prefix=''):
        for member, kind in structs[structure]:
            path = prefix + member
            inner = kind.removeprefix('const ').removeprefix('struct ')
            if path in covered:
                if inner in structs and inner not in known and inner not in BY_CODE:
                    faults.append(f'struct {inner} has no record')
            elif any(c.startswith(path + '.') for c in covered):
                cover(inner, covered, path + '.')
            else:
                faults.append(f'struct {structure}: no row covers {path}')

    for structure, (message, rows) in known.items():
        fields = [field for field, _, _ in rows]
        if message not in protos:
            faults.append(f'{structure}: wire.proto has no message {message}')
        elif fields != protos[message]:
            faults.append(f'{structure}: rows {fields}, fields of {message} {protos[message]}')
        covered = {c for _, cs, _ in rows for c in cs}
        cover(structure, covered)
    for structure, members in BY_CODE.items():
        if {m for m, _ in structs[structure]} != members:
            faults.append(f'struct {structure} has changed: adapt its conversion '
                          '(sim/wire/wire_convert.c) and this list')
    if len(known) < 13:
        faults.append(f'{len(known)} records found, expected 13 or more')
    print('\n'.join(faults) or f'{len(known)} records cover their structures and messages')
    return 1 if faults else 0


sys.exit(main())

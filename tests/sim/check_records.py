#!/usr/bin/env python3
"""Checks that the HAL as data is complete: rows, sim/hal.h and sim/wire/wire.proto match both ways.

Structures: the rows of sim/hal/hal_records.c cover every member of every structure of sim/hal.h and
of hal_driver_info, and their order is that of the fields of the message that is named after the
structure.  A member is covered by the row that converts it, by the row whose count it is, or, for a
structure within a structure, by rows of its own members.  A member whose comment in sim/hal.h gives
the version that has added it has that version in its row, and no other has one.

Methods: each method of sim/hal.h has a row in sim/wire/wire_methods.c with the version of its
comment, each code of wire.proto has a row and a function of the service, and each row is of a method
of sim/hal.h or of the protocol only."""
import pathlib
import re
import sys

# Structures that are converted by code, with the members that the code handles.
BY_CODE = {
    'hal_memory': ({'kind', 'protection', 'address', 'fd', 'offset', 'size'},
                   'wire_put_memory() and wire_take_memory(), sim/wire/wire_convert.c'),
    'hal_result': ({'shapes', 'capacity', 'n_shapes', 'timing'},
                   'wire_encode_result() and wire_decode_result(), sim/wire/wire_convert.c'),
    'hal_prepared_model': ({'methods', 'n_inputs', 'n_outputs'},
                           'notify_prepared(), sim/service/session.c, and remote_prepared_new()'),
    'hal_driver': ({'abi_version', 'hal_version', 'lowest_version', 'name'},
                   'hal_driver_info, gather_info() of sim/service/session_driver.c'),
}
# Structures whose members are rows of those that contain them.
WITHIN = {'hal_cache': 'hal_prepare_config'}
# Handles, which have nothing but methods.
HANDLES = {'hal_fenced_info', 'hal_execution', 'hal_burst', 'hal_buffer'}

# Methods that no code of wire.proto is named after, and where their results are.
WITHOUT_CODE = {
    'hal_driver.get_type': 'GET_INFO',
    'hal_driver.get_version_string': 'GET_INFO',
    'hal_driver.get_supported_extensions': 'GET_INFO',
    'hal_driver.get_number_of_cache_files_needed': 'GET_INFO',
    'hal_driver.get_failure_text': 'the field `text` of Reply and Event',
    'hal_driver.close': 'the end of the connection',
}
PROTOCOL_ONLY = {'OPEN_CHANNEL', 'SET_STAGING', 'OPEN_EVENTS', 'GET_INFO'}
# Of each kind of object: its table in sim/hal.h.
TABLES = {
    'OBJECT_NONE': 'hal_driver',
    'OBJECT_PREPARED': 'hal_prepared_model',
    'OBJECT_BUFFER': 'hal_buffer',
    'OBJECT_BURST': 'hal_burst',
    'OBJECT_EXECUTION': 'hal_execution',
    'OBJECT_INFO': 'hal_fenced_info',
}


def version_name(minor, level):
    return f'HAL_1_{minor}' if minor else f'HAL_FL{level}'


SINCE = r'since (?:1\.(\d)|feature level (\d))'


def version_of(comment):
    """(version, neutral value) of "since 1.2; false" in a member's comment, None where it has none."""
    match = re.search(r'(?:/\*|;)\s+' + SINCE + r'(?:[^;]*; (HAL_\w+|0|false)\b)?', comment, re.S)
    return (version_name(match[1], match[2]), match[3]) if match else (None, None)


def version_of_method(comment):
    match = re.search(r'/\* ' + SINCE.replace('since', 'Since'), comment)
    return version_name(match[1], match[2]) if match else 'HAL_1_0'


def structures(text):
    """Of each structure: its members [(name, type, comment)] and methods [(name, comment)]."""
    found = {}
    for name, body in re.findall(r'^struct (\w+) \{\n(.*?)^\};', text, re.M | re.S):
        members, methods = [], []
        # A declaration, the comment before it, and the one behind it on the same line.
        for before, declaration, behind in re.findall(
                r'((?:\s*/\*.*?\*/)?)\s*([^;/]+);[ ]*((?:/\*.*?\*/)?)', body, re.S):
            declaration = ' '.join(declaration.split())
            method = re.search(r'\(\*(\w+)\)\(', declaration)
            if method:
                methods.append((method[1], before))
                continue
            match = re.match(r'((?:const |struct |enum )*\w+) (.*)', declaration)
            for member in match[2].split(','):
                members.append((re.sub(r'[\s*]|const|\[.*', '', member), match[1], behind))
        found[name] = (members, methods)
    return found


def messages(text):
    text = re.sub(r'//[^\n]*', '', text)
    return {name: [field for field, _ in
                   sorted(re.findall(r'(\w+) = (\d+);', body), key=lambda f: int(f[1]))]
            for name, body in re.findall(r'^(?:message|enum) (\w+) \{(.*?)^\}', text, re.M | re.S)}


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
    """Of each structure the rows: (field, member, count or None, match of SINCE or None)."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    found = {}
    for block in re.findall(r'^#define TYPE \w+\n.*?^#undef TYPE', text, re.M | re.S):
        structure = re.match(r'#define TYPE (\w+)', block)[1]
        rows = []
        body = re.search(r'_rows\[\] = \{(.*?)\};', block, re.S)[1]
        for macro, inner in re.findall(
                r'\b(MEMBER|ONE|NAMED|LIST)\(((?:[^()]|\([^()]*\))*)\)', body):
            a = arguments(inner)
            count = re.search(r'COUNT\(([\w.]+)\)', inner)
            since = re.search(r'SINCE\((\w+), (\w+)', inner)
            named = macro in ('NAMED', 'LIST')
            rows.append((a[0].strip('"'), a[1] if named else a[0],
                         a[2] if macro == 'LIST' else count and count[1], since))
        found[structure] = rows
    return found


def message_of(structure):
    return ''.join(word.capitalize() for word in structure.removeprefix('hal_').split('_'))


def check_version(path, comment, row):
    """That the row's version and neutral value are those of the comment in sim/hal.h."""
    version, neutral = version_of(comment)
    row_version, row_neutral = (row[3][1], row[3][2]) if row[3] else (None, None)
    if version != row_version or (neutral and neutral != row_neutral):
        yield (f'{path}: "since" {version}, neutral {neutral} in its comment, {row_version} and '
               f'{row_neutral} in its row')


def check_members(structs, known, protos):
    def cover(structure, root, rows, prefix=''):
        covered = {row[1]: row for row in rows} | {row[2]: row for row in rows if row[2]}
        for member, kind, comment in structs[structure][0]:
            path = prefix + member
            inner = kind.removeprefix('const ').removeprefix('struct ')
            within = [row for row in rows if row[1].startswith(path + '.')]
            row = covered.get(path)
            if row and not prefix and row[2] in (None, path): # at the count of an array
                yield from check_version(f'struct {root}: {path}', comment, row)
            elif within:
                yield from cover(inner, root, rows, path + '.')
                for row in within:
                    if row[2]:
                        yield from check_version(f'struct {root}: {row[1]}', comment, row)
            elif not row:
                yield f'struct {root}: no row covers {path}'

    for structure, rows in known.items():
        fields = [row[0] for row in rows]
        message = message_of(structure)
        if message not in protos:
            yield f'{structure}: wire.proto has no message {message}'
        elif fields != protos[message]:
            yield f'{structure}: rows {fields}, fields of {message} {protos[message]}'
        if structure not in structs:
            yield f'{structure}: no such structure'
        else:
            yield from cover(structure, structure, rows)


def check_structures(structs, known):
    for structure, (members, methods) in structs.items():
        names = {m for m, _, _ in members}
        if structure in BY_CODE:
            if names != BY_CODE[structure][0]:
                yield (f'struct {structure} has changed: adapt {BY_CODE[structure][1]}, and the '
                       'list in this test')
        elif structure in HANDLES:
            if names != {'methods'}:
                yield f'struct {structure} has members: convert them, and adapt this test'
        elif members and structure not in known and structure not in WITHIN:
            yield f'struct {structure} has no rows in sim/hal/hal_records.c'


def methods_of(structs):
    """{"hal_driver.allocate": comment}; "release" of every table is one method."""
    found = {}
    for structure, (_, methods) in structs.items():
        if structure.endswith('_callback'):
            continue
        for name, comment in methods:
            found[structure.removesuffix('_methods') + '.' + name] = comment
    return found


def check_methods(structs, text, answers, codes):
    rows = re.findall(r'\[WIRE__METHOD__(\w+)\] =\s*\{\s*("\w+"|NULL),\s*(\w+),\s*(\w+),\s*(\w+)',
                      text)
    methods = methods_of(structs)
    releases = {m for m in methods if m.endswith('.release')}
    covered = set(WITHOUT_CODE) | releases
    for missing in set(WITHOUT_CODE) - set(methods):
        yield f'{missing}: no such method of sim/hal.h'
    for place, there in (('sim/wire/wire_methods.c', [code for code, *_ in rows]),
                         ('ANSWERS of sim/service/session_calls.h',
                          re.findall(r'X\((\w+), answer_', answers))):
        for code in sorted(set(codes[1:]) ^ set(there)):
            has, lacks = (place, 'wire.proto') if code in there else ('wire.proto', place)
            yield f'{code} is in {has}, but not in {lacks}'
    for code, name, since, until, kind in rows:
        method = TABLES[kind] + '.' + name.strip('"')
        if (name == 'NULL') != (code in PROTOCOL_ONLY):
            yield f'{code}: is it a method of sim/hal.h?'
        elif name == '"release"' or name == 'NULL':
            continue
        elif method not in methods:
            yield f'{code}: sim/hal.h has no method {method}'
        else:
            covered.add(method)
            expected = version_of_method(methods[method])
            if kind in ('OBJECT_NONE', 'OBJECT_PREPARED') and expected != since:
                yield f'{code}: since {since} in its row, {expected} in the comment of sim/hal.h'
            last = re.match(r'\s*/\* 1\.0 to 1\.3:', methods[method])
            if until != ('HAL_1_3' if last else 'HAL_FL8'):
                yield f'{code}: until {until}, not as in the comment of sim/hal.h'
    for method in sorted(set(methods) - covered):
        yield f'{method} of sim/hal.h has no row in sim/wire/wire_methods.c'


def main():
    root = pathlib.Path(sys.argv[1])
    hal = (root / 'sim/hal.h').read_text()
    structs = structures(hal)
    # The versions of members of hal_capabilities are a table in its comment.
    added = {member: f'/* since {version}; 0 */'
             for version, members in re.findall(r'^ \*    (1\.\d)   adds ([\w, ]+)', hal, re.M)
             for member in members.split(', ')}
    structs['hal_capabilities'] = ([(member, kind, added.get(member, comment)) for
                                    member, kind, comment in structs['hal_capabilities'][0]], [])
    protos = messages((root / 'sim/wire/wire.proto').read_text())
    known = records((root / 'sim/hal/hal_records.c').read_text())
    methods = (root / 'sim/wire/wire_methods.c').read_text()
    answers = (root / 'sim/service/session_calls.h').read_text()
    info = structures((root / 'sim/hal/hal_records.h').read_text())
    structs['hal_driver_info'] = info['hal_driver_info']
    faults = [*check_members(structs, known, protos), *check_structures(structs, known),
              *check_methods(structs, methods, answers, protos['Method'])]
    if len(known) < 22 or len(structs) < 35:
        faults.append(f'{len(known)} records and {len(structs)} structures found, expected more')
    print('\n'.join(faults) or f'{len(known)} records of {len(structs)} structures, '
          f'{len(protos["Method"]) - 1} methods: all match')
    return 1 if faults else 0


sys.exit(main())

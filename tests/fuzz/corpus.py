"""Minimised corpora of the fuzz targets, each an archive corpus/fuzz_x.tar.xz with one folder.

corpus.py pack FOLDER ARCHIVE        packs the folder's files; the same files give the same bytes
corpus.py unpack FOLDER ARCHIVE...   unpacks archives into the folder, emptied before
"""

import lzma
import pathlib
import shutil
import sys
import tarfile


def pack(folder, archive):
    folder = pathlib.Path(folder)
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT, preset=9 | lzma.PRESET_EXTREME) as tar:
        for number, path in enumerate(sorted(folder.iterdir(), key=lambda path: (path.stat().st_size, path.name))):
            entry = tarfile.TarInfo(f"{folder.name}/{number:04}")
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)


def unpack(folder, *archives):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for archive in archives:
        with tarfile.open(archive) as tar:
            for entry in tar:
                path = folder / entry.name
                if not entry.isfile() or folder.resolve() not in path.resolve().parents:
                    raise SystemExit(f"{archive}: expected files below a folder, found {entry.name}")
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(tar.extractfile(entry).read())


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:])

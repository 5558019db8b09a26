"""Xet's storage as the stand-in plays it: chunks come in xorbs, files as shards that list ranges of chunks.

Of the protocol (version 1, as hf_xet 1.8 speaks it) it plays what an upload needs: ``POST /v1/xorbs`` and
``POST /v1/shards``. Every chunk is new to it, so nothing is deduplicated across pushes.
"""

from __future__ import annotations

import struct

import pyarrow as pa

from synth.mocks.hub.repositories import Repositories

__all__ = ["XetStorage"]

_RECORD = 48
"""Bytes of every record of a shard, its header included."""
_END = b"\xff" * 32
_VERIFIED, _WITH_SHA256 = 1 << 31, 1 << 30


class XetStorage:
    """Chunks by xorb, until a shard makes files of them."""

    def __init__(self) -> None:
        self._xorbs: dict[str, list[bytes]] = {}

    def keep(self, name: str, data: bytes) -> None:
        """A xorb under its hex name: each chunk has a header of 8 bytes (version, packed size, packing, size)."""
        chunks, at = [], 0
        while at < len(data):
            packed, size = (int.from_bytes(data[at + start : at + start + 3], "little") for start in (1, 5))
            chunks.append(_unpacked(data[at + 8 : at + 8 + packed], data[at + 4], size))
            at += 8 + packed
        self._xorbs[name] = chunks

    def register(self, shard: bytes, repositories: Repositories) -> None:
        """Keep the content of every file of a shard.

        Raises:
            ValueError: a file names chunks that never came, or its bytes are not those that it announces.
        """
        at = _RECORD
        while shard[at : at + 32] != _END:
            flags, count = struct.unpack_from("<II", shard, at + 32)
            whole, announced = b"", None
            for number in range(1, count + 1):
                entry = at + number * _RECORD
                first, last = struct.unpack_from("<II", shard, entry + 40)
                whole += b"".join(self._chunks(_name(shard[entry : entry + 32]))[first:last])
            at += (1 + count) * _RECORD
            if flags & _VERIFIED:
                at += count * _RECORD
            if flags & _WITH_SHA256:
                announced = _name(shard[at : at + 32])
                at += _RECORD
            if repositories.keep(whole) != announced:
                raise ValueError("the bytes are not those that were announced")

    def _chunks(self, name: str) -> list[bytes]:
        if name not in self._xorbs:
            raise ValueError(f"the xorb {name} never came")
        return self._xorbs[name]


def _name(raw: bytes) -> str:
    """Xet writes its hashes as four numbers of 64 bits, each in hex."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


def _unpacked(data: bytes, packing: int, size: int) -> bytes:
    if packing == 0:
        return data
    plain = pa.Codec("lz4").decompress(data, decompressed_size=size, asbytes=True)
    if packing == 1:
        return bytes(plain)
    # 2: bytes number 0, 4, 8, ... first, then 1, 5, 9, ... and so on
    grouped, out, at = bytes(plain), bytearray(size), 0
    for start in range(4):
        length = len(range(start, size, 4))
        out[start::4] = grouped[at : at + length]
        at += length
    return bytes(out)

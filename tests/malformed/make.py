#!/usr/bin/python3
"""Writes tests/malformed/files: one small file per way in which an input can be wrong."""
import os
import struct
import zipfile

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "files"))


def write(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


# -- models
def model(name, text):
    write(name + ".gml", b"gml 1\n" + (text if isinstance(text, bytes) else text.encode()))


def phase(text):
    return "phase p { " + text + " }\n"


model("01-nul", b"config a = 1\nconfig b\0 = 2\n")
model("02-latin1", b"config a = 1 # \xe9t\xe9\n")
write("02-utf16.gml", "\ufeffgml 1\n".encode("utf-16-le"))
model("03-string", 'config a = "never closed\nconfig b = 1\n')
model("04-nested", phase("let x = " + "(" * 300 + "1" + ")" * 300))
model("05-cycle-a", "import cycle_b\n")
write("cycle_b.gml", "gml 1\nimport cycle_c\n")
write("cycle_c.gml", "gml 1\nimport cycle_b\n")
model("05-self", "import self_import\n")
write("self_import.gml", "gml 1\nimport self_import\n")
model("06-path", 'import "../../etc/passwd"\n')
model("06-missing", "import no_such_module\n")
model("07-dim-2-63", phase("output o = zeros([9223372036854775808])"))
model("07-dim-negative", phase("output o = zeros([0 - 1])"))
model("07-elements", phase("output o = mean(rand.uniform([1000000000, 1000000000, 1000000000], 0, 1))"))
model("07-places", "config N: dim = 3000000\n" + phase("output o = argmax(rand.uniform([N * 1000]))"))
model("07-sizes", "config N: dim = 3000000\n" + phase("output o = len(rand.uniform([N * 1000]))"))
doubling = "fn f0(x) { return x + rand.uniform([2], 0, 1) }\n" + "".join(
    f"fn f{i}(x) {{ return f{i - 1}(x) + f{i - 1}(x + {i}) }}\n" for i in range(1, 41))
model("08-doubling", doubling + phase("output o = f40(ones([2]))"))
model("09-matmul", phase("let a = ones([8, 16])\n let b = ones([17, 4])\n output o = a @ b"))
model("10-recursive", "fn f(x) { return f(x) }\n" + phase("output o = f(ones([2]))"))
model("10-undefined", "config width = 3\n" + phase("output o = f32(widht)"))
model("10-duplicate", "fn f(x, x) { return x }\n" + phase("output o = f(1.0, 2.0)"))
model("11-overflow", "config a = 1e999\n")
model("11-hex", "config a = 0x\n")
model("11-digits", "config a = " + "7" * 5000 + "\n")


# -- safetensors
def tensors(name, header, data=b"", length=None):
    header = header if isinstance(header, bytes) else header.encode()
    write(name + ".safetensors", struct.pack("<Q", len(header) if length is None else length) + header + data)


def entry(name, dtype, shape, begin, end):
    return f'"{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}'


tensors("17-longer-than-file", "{}", length=100)
tensors("17-over-16-mib", "{}", length=(16 << 20) + 1)
tensors("17-wraps", "{}", length=2**64 - 1)
tensors("17-under-2", "{", length=1)
write("17-seven-bytes.safetensors", b"\2\0\0\0\0\0\0")
tensors("18-no-object", "[1, 2]")
tensors("18-bad-utf8", b'{"\xff": 3}')
tensors("18-bad-json", '{"a": {"dtype" "F32"}}')
tensors("18-deep", '{"a":' + "[" * 5000 + "]" * 5000 + "}")
tensors("18-duplicate", "{" + entry("a", "U8", [1], 0, 1) + "," + entry("a", "U8", [1], 1, 2) + "}", b"ab")
tensors("18-duplicate-key", '{"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}', b"a")
tensors("19-range", "{" + entry("a", "F32", [2], 0, 4) + "}", bytes(4))
tensors("19-product", "{" + entry("a", "F32", [2, 2**63 - 1], 0, 8) + "}", bytes(8))
tensors("19-product-wraps", "{" + entry("a", "U8", [2**40, 2**40], 0, 8) + "}", bytes(8))
tensors("20-overlap", "{" + entry("a", "U8", [2], 0, 2) + "," + entry("b", "U8", [2], 1, 3) + "}", bytes(3))
tensors("20-hole", "{" + entry("a", "U8", [1], 0, 1) + "," + entry("b", "U8", [1], 2, 3) + "}", bytes(3))
tensors("20-tail", "{" + entry("a", "U8", [1], 0, 1) + "}", b"aPK\3\4")
tensors("20-ends-before", "{" + entry("a", "U8", [1], 3, 2) + "}", bytes(3))
tensors("20-cut-off", "{" + entry("a", "U8", [4], 0, 4) + "}", bytes(3))


# -- npy, npz
def npy(name, header, data=b"", length=None, version=1):
    head = header.encode() + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(head) if length is None else length)
    write(name + ".npy", b"\x93NUMPY" + bytes([version, 0]) + size + head + data)


def header(descr="<f4", order="False", shape="(2,)"):
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"


write("23-magic.npy", b"\x93NUMPI" + bytes(20))
npy("23-version", header(), bytes(8), version=4)
npy("23-header-4-gib", header(), bytes(8), length=2**32 - 1, version=2)
npy("23-object", header("|O"), bytes(8))
npy("23-fortran", header("<f4", "True", "(2, 1)"), bytes(8))
npy("23-big-endian", header(">f4"), bytes(8))
npy("23-shape-2-64", header(shape="(18446744073709551616,)"), bytes(8))
npy("23-shape-wraps", header(shape="(4294967296, 4294967296)"), bytes(8))
npy("23-32-gib", header("<f8", "False", "(4294967296,)"))
npy("23-no-tuple", header(shape="2"), bytes(8))
npy("23-no-comma", header(shape="(2)"), bytes(8))
npy("23-negative", header(shape="(-2,)"), bytes(8))
npy("23-key-twice", header()[:-1] + "'shape': (2,), }", bytes(8))
npy("23-no-descr", "{'fortran_order': False, 'shape': (2,), }", bytes(8))
npy("23-tail", header(), bytes(9))
npy("23-cut-off", header(), bytes(7))


def npz(name, members, compression=zipfile.ZIP_STORED, patch=None):
    with zipfile.ZipFile("t.zip", "w", compression) as z:
        for member, data in members:
            info = zipfile.ZipInfo(member)
            info.compress_type = compression
            z.writestr(info, data)
    data = bytearray(open("t.zip", "rb").read())
    os.remove("t.zip")
    central = data.rindex(b"PK\1\2") if members else 0
    if patch:
        patch(data, central)
    write(name + ".npz", bytes(data))


x = b"\x93NUMPY\1\0" + struct.pack("<H", len(header()) + 1) + header().encode() + b"\n" + bytes(8)


def put(offset, value, size=4):
    def patch(data, central):
        data[central + offset:central + offset + size] = value.to_bytes(size, "little")
    return patch


npz("23-npz-bomb", [("x.npy", x)], zipfile.ZIP_DEFLATED, put(24, 2**31))
npz("23-npz-crc", [("x.npy", x)], patch=put(16, 1))
npz("23-npz-method", [("x.npy", x)], patch=put(10, 12, 2))
npz("23-npz-encrypted", [("x.npy", x)], patch=put(8, 1, 2))
npz("23-npz-folder", [("a/x.npy", x)])
npz("23-npz-name", [("x.txt", x)])
npz("23-npz-offset", [("x.npy", x)], patch=put(42, 2**31))
npz("23-npz-stored-size", [("x.npy", x)], patch=put(24, 7))
npz("23-npz-no-end", [("x.npy", x)], patch=lambda data, central: data.__delitem__(slice(-1, None)))
npz("23-npz-damaged", [("x.npy", x)], zipfile.ZIP_DEFLATED, lambda data, central: data.__setitem__(40, data[40] ^ 255))


# -- idx
def idx(name, *parts):
    write(name + "-ubyte", b"".join(parts))


idx("23-idx-type", b"\0\0\7\1", struct.pack(">I", 2), b"ab")
idx("23-idx-axes", b"\0\0\x08\x09", struct.pack(">9I", *[1] * 9), b"a")
idx("23-idx-cut-off", b"\0\0\x08\1", struct.pack(">I", 3), b"ab")
idx("23-idx-tail", b"\0\0\x08\1", struct.pack(">I", 1), b"ab")
idx("23-idx-elements", b"\0\0\x0e\4", struct.pack(">4I", *[2**32 - 1] * 4))

# -- CSV
write("24-ragged.csv", "a,b,c\n1,2,3\n4,5\n")
write("24-empty-cell.csv", "a,b\n1,2\n3,\n")
write("24-nan.csv", "a,b\n1,2\nnan,4\n")
write("24-infinity.csv", "a,b\n1,2\n3,inf\n")
write("24-decimal-comma.csv", 'a,b\n1,"1,5"\n')
write("24-semicolons.csv", "a;b\n1;2\n")
write("24-unclosed.csv", 'a,b\n1,"2\n3,4\n')
write("24-quote-inside.csv", 'a,b\n1,2"3\n')
write("24-cr-only.csv", "a,b\r1,2\r")
write("24-no-header.csv", "1,2\n3,4\n")
write("24-name-twice.csv", "a,b,a\n1,2,3\n")
write("24-nul.csv", b"a,b\n1,\0\n")
write("24-utf16.csv", "a,b\n1,2\n".encode("utf-16"))
write("24-latin1.csv", b"a,b\n1,\xe9\n")
write("24-blank-line.csv", "a\n1\n\n2\n")
write("24-empty.csv", "")
write("25-unknown.bin", bytes([1, 2, 3, 4, 5, 6, 7]))

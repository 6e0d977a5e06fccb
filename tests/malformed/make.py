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


# -- files of data sets: NN-MODEL-what.* goes through a run of MODEL.gml, a model that is not wrong itself
def rows(name, head, good, bad):
    write(name, "\n".join([head, *good, bad]) + "\n")


write("times.gml", """gml 1
data d = "d.csv" {
    split = (train = field("k") < 2 and field("s") != "x", test = field("k") >= 2 or field("s") == "z")
    t: i32[2] = window(timestamp("t") // 60, 2)
    x: f32[2, 2] = window(columns("a".."b"), 2) |> standardize
}
phase eval on d{split = "train", batch = 2} as r { metric m = mean(r.x) + f32(sum(r.t)) }
run { eval }
""")
head, good = "t,a,b,k,s", ["2016-02-28 00:00,1,2,0,y", "2016-02-28 01:00,2,3,1,y", "2016-02-29,3,4,1,y"]
for what, bad in [("month", "2016-13-01,4,5,1,y"), ("day", "2015-02-29,4,5,1,y"), ("clock", "2016-02-29 24:00,4,5,1,y"), ("zone", "2016-02-29 12:00+1,4,5,1,y"),
                  ("order", "29.02.2016,4,5,1,y"), ("empty", ",4,5,1,y"), ("far", "2116-01-01,4,5,1,y"), ("number", "2016-02-29,4,high,1,y"),
                  ("missing", "2016-02-29,4,,1,y"), ("condition-text", "2016-02-29,4,5,one,y"), ("condition-missing", "2016-02-29,4,5,,y")]:
    rows(f"24-times-{what}.csv", head, good, bad)
rows("24-times-both.csv", head, good, "2016-02-29,4,5,0,z")
rows("24-times-condition-number.csv", head, [g[:-1] + "1" for g in good], "2016-02-29,4,5,1,1")
rows("24-times-column.csv", "t,a,b,c,s", good, "2016-02-29,4,5,2,y")
rows("24-times-more-columns.csv", "t,a,q,b,k,s", [g.replace(",", ",7,", 1) for g in good], "2016-02-29,7,4,5,1,y")
rows("24-times-backwards.csv", "t,b,a,k,s", good, "2016-02-29,4,5,1,y")
rows("24-times-none.csv", head, ["2016-02-28 00:00,1,2,2,y"], "2016-02-28 01:00,2,3,2,y")
rows("24-times-no-window.csv", head, [good[0], good[1].replace("1,y", "2,y")], good[2])
write("24-times-header.csv", head + "\n")
write("labels.gml", """gml 1
data d = "d.csv" {
    x: f32[2] = columns("a", "b", missing = 0)
    n: i32 = field("n", missing = 7)
    y: i32 = classes("s", ["yes", "no"])
}
phase eval on d{batch = 2} as r { metric m = mean(r.x) + f32(sum(r.y) + sum(r.n)) }
run { eval }
""")
for what, bad in [("name", "4,5,1,noo"), ("other", "4,5,1,perhaps"), ("none", "4,5,1,"), ("text", "4,low,1,no"), ("filled", "4,,,no\n,,1.5,yes")]:
    rows(f"24-labels-{what}.csv", "a,b,n,s", ["1,2,3,yes", ",na,,no"], bad)
rows("24-labels-numbers.csv", "a,b,n,s", ["1,2,3,1"], "1,2,3,0")
rows("24-labels-missing-number.csv", "a,b,n,s", ["1,2,3,1"], "1,2,3,")
write("bytes.gml", """gml 1
data d = "d.txt" {
    split = (train = 0.9, val = 0.1)
    ids: i32[4] = window(bytes(), 4, stride = 3)
    fresh: bool = first_of_sequence()
}
phase eval on d{split = "val", batch = 2, lanes = true} as r { metric m = f32(max(r.ids)) using max }
run { eval }
""")
write("25-bytes-empty.txt", "")
write("25-bytes-short.txt", "a text of 30 bytes, val has 3\n")
write("25-bytes-lanes.txt", "one window, but two lanes are wanted in val\n")
write("rows.gml", """gml 1
data d = "d.npz" {
    split = field("part")
    x: f32[2] = standardize(field("x"))
    y: i32 = field("y")
    z: bool = field("z")
}
phase eval on d{split = "train", batch = 2} as r { metric m = mean(r.x) + f32(sum(r.y)) + mean(f32(r.z)) }
run { eval }
""")


def array(descr, shape, data):
    h = header(descr, "False", shape)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(h) + 1) + h.encode() + b"\n" + data


def members(name, **change):
    at = {"part": array("|S5", "(3,)", b"traintest\0train"), "x": array("<f4", "(3, 2)", struct.pack("<6f", *range(6))),
          "y": array("|u1", "(3,)", bytes([1, 2, 3])), "z": array("|b1", "(3,)", bytes([0, 1, 1]))}
    at.update(change)
    npz("24-rows-" + name, [(k + ".npy", v) for k, v in at.items() if v])


members("no-part", part=None)
members("longer-part", part=array("|S5", "(4,)", b"traintest\0traintrain"))
members("wide-part", part=array("|S5", "(3, 1)", b"traintest\0train"))
members("no-train", part=array("|S5", "(3,)", b"Traintest\0Train"))
members("single", x=array("<f4", "()", bytes(4)))
members("wider", x=array("<f4", "(3, 3)", bytes(36)))
members("longer", x=array("<f4", "(4, 2)", bytes(32)))
members("none", x=array("<f4", "(0, 2)", b""), y=array("|u1", "(0,)", b""), z=array("|b1", "(0,)", b""), part=array("|S5", "(0,)", b""))
members("text", y=array("|S1", "(3,)", b"abc"))
members("half", y=array("<f4", "(3,)", struct.pack("<3f", 1, 2.5, 3)))
members("no-bool", z=array("|u1", "(3,)", bytes([0, 1, 2])))
members("other-name", y=None, Y=array("|u1", "(3,)", bytes(3)))
write("draw.gml", """gml 1
phase eval {
    let eps = rand.normal([2, 3])
    metric m = sum(eps)
}
run { eval }
""")
npy("23-draw-shape", header(shape="(3, 2)"), bytes(24))
npy("23-draw-axes", header(shape="(6,)"), bytes(24))
npy("23-draw-large", header("<f8", shape="(2, 3)"), struct.pack("<6d", 1, 2, 1e39, 0, 0, 0))
npy("23-draw-text", header("|S1", shape="(2, 3)"), b"abcdef")
npz("23-draw-two", [("x.npy", x), ("y.npy", x)])
npz("23-draw-nothing", [])
write("net.gml", """gml 1
import nn
let net = nn.Linear{2}
phase eval { metric m = sum(net(ones([3, 2]))) }
run { eval }
""")
tensors("21-net-missing", "{" + entry("net.w", "F32", [2, 2], 0, 16) + "}", bytes(16))
tensors("21-net-unexpected", "{" + entry("net.w", "F32", [2, 2], 0, 16) + "," + entry("net.b", "F32", [2], 16, 24) + "," + entry("net.c", "F32", [1], 24, 28) + "}", bytes(28))
tensors("21-net-shape", "{" + entry("net.w", "F32", [2, 3], 0, 24) + "," + entry("net.b", "F32", [2], 24, 32) + "}", bytes(32))
tensors("21-net-type", "{" + entry("net.w", "I32", [2, 2], 0, 16) + "," + entry("net.b", "F32", [2], 16, 24) + "}", bytes(24))
tensors("22-net-nan", "{" + entry("net.w", "F32", [2, 2], 0, 16) + "," + entry("net.b", "F32", [2], 16, 24) + "}", struct.pack("<6f", 1, 2, 3, float("nan"), float("inf"), 0))

"""The compiler of kernels: Numba's front end, one LLVM module for a group, one object file.

Numba would optimise and emit every function with all that it calls, once for each caller. Here
the functions stay LLVM's intermediate code; those that the entries reach are linked into one
module, which is optimised and emitted once. This module changes Numba for its whole process
and therefore runs in one of its own (`python -m partita.compilation.compiler`).

An entry is called as `int entry(long *slots, long header)`. The slots have the arguments: a number
as eight bytes, an array as the address of its Python object, whose fields after the header that
all objects have are NumPy's. They are followed by room for the results: a number as eight bytes,
an array as its memory's owner, its address, its shape and strides. The status that is returned is
0, or an error (see `partita.compilation.library`).
"""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_INTEL_SVML"] = "1"  # its functions are in no library that all have

import ast
import contextlib
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import CodeType
from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba.core import callconv, cgutils, codegen, cpu
from numba.core import types as _types
from numba.core.registry import cpu_target
from numba.np import arrayobj, linalg, numpy_support
from numba.np.random.generator_core import _bit_gen_type

from partita.compilation import Kernel
from partita.compilation.cache import write
from partita.compilation.library import BAD_ARGUMENT, ERRORS, RELEASE, SWAPPED
from partita.compilation.loading import (
    HOST,
    file_name,
    fitting,
    machine,
    modules_of,
    source_hash,
)
from partita.compilation.signatures import Array, Generator, Kind, Record, Scalar, signature

types: Any = _types
WORD, BYTE, CODE = ir.IntType(64), ir.IntType(8), ir.IntType(32)
# Of an array after the header of its object (NumPy's PyArrayObject_fields), and of its type of
# items (PyArray_Descr of NumPy 2): the places of the fields, in bytes.
DATA, DIMENSIONS, SHAPE, DESCRIPTION, FLAGS = 0, 8, 16, 40, 48
LETTER, ORDER, ITEM_SIZE = 8, 10, 24
CONTIGUOUS_ALIGNED = 0x101
LIBRARIES = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite"}  # known by their versions
CODES = {error: status for status, error in ERRORS.items()}
# What machine code may need of others: the C library's memory and mathematics.
FOREIGN = frozenset(
    ["malloc", "realloc", "free", "memcpy", "memmove", "memset", "exp", "expm1", "log", "log1p",
     "log2", "pow", "sqrt", "floor", "ceil", "fmod", "ldexp", "frexp", "lgamma", "fma",
     "sqrtf", "expf", "logf"]
)  # fmt: skip
RUNTIME = Path(__file__).with_name("runtime.ll")


class _Unlinked(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A library of intermediate code that is neither linked nor emitted by itself."""

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._finalized = True
        return 0


def _return_code(
    _convention: Any, builder: Any, exception: Any, *_args: Any, **_named: Any
) -> None:
    """Return a code for an exception, in place of Numba's pickled one."""
    builder.ret(CODE(CODES.get(exception, 1)))


def _pass_code_on(_convention: Any, builder: Any, status: Any) -> None:
    builder.ret(status.code)


def _compile_internal(context: Any, builder: Any, function: Any, *args: Any, **named: Any) -> Any:
    """Call the allocator itself where Numba compiles a function that calls it."""
    if function is arrayobj._call_allocator:
        _, size, align = args[1]
        return context.nrt.meminfo_alloc_aligned(builder, size=size, align=align)
    return _COMPILE_INTERNAL(context, builder, function, *args, **named)


COMPILED: list[Kernel[Any, Any]] = []
_COMPILE_INTERNAL = cpu.CPUContext.compile_internal


def _dispatcher(kernel: Kernel[Any, Any]) -> Any:
    COMPILED.append(kernel)
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **kernel.options}
    return numba.njit(nogil=True, **options)(kernel.py_func)


def _change_numba() -> None:
    dispatcher = cached_property(_dispatcher)
    dispatcher.__set_name__(Kernel, "dispatcher")
    Kernel.dispatcher = dispatcher  # type: ignore[method-assign, assignment]
    codegen.JITCPUCodegen._library_class = _Unlinked
    codegen.JITCPUCodegen.set_env = lambda *_: None
    cpu.CPUContext.compile_internal = _compile_internal
    callconv.CPUCallConv.return_user_exc = _return_code
    callconv.CPUCallConv.return_dynamic_user_exc = _return_code
    callconv.CPUCallConv.return_status_propagate = _pass_code_on
    linalg.ensure_blas = lambda: None  # no kernel multiplies matrices by BLAS; SciPy stays out


def entries(modules: Iterable[str]) -> Iterator[Kernel[Any, Any]]:
    """Yield the entries that modules define."""
    for name in modules:
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Kernel) and value.entry and value.py_func.__module__ == name:
                yield value


def compiled(modules: Sequence[str], machines: Sequence[Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return a description of the entries of modules, and an object file for each machine."""
    if not machines:
        return {}, []
    described, libraries = {}, []
    for kernel in entries(modules):
        result, made = _compile(kernel)
        signature(str(result or ""), vars(sys.modules[kernel.py_func.__module__]))
        described[kernel.name] = {"arguments": kernel.entry, "result": str(result or "")}
        libraries += made
    module = _linked(libraries, described)
    return described, [_object(module.clone(), machine) for machine in machines]


def _numba_type(kind: Kind) -> Any:
    """Return Numba's name of a type."""
    if isinstance(kind, Scalar):
        return numpy_support.from_dtype(np.dtype(kind.code))
    if isinstance(kind, Array):
        return types.Array(numpy_support.from_dtype(np.dtype(kind.code)), kind.dimensions, "C")
    if isinstance(kind, Generator):
        return types.npy_rng
    items = [_numba_type(item) for item in kind.items]
    if kind.make:
        return types.BaseTuple.from_types(items, kind.make)
    return types.BaseTuple.from_types(items)


def _kind(numba_type: Any) -> Kind | None:
    """Return the type of a result by Numba's name; None for nothing."""
    if numba_type == types.none:
        return None
    if isinstance(numba_type, types.Array):
        return Array(numpy_support.as_dtype(numba_type.dtype).str[1:], numba_type.ndim)
    if isinstance(numba_type, types.BaseTuple):
        items = tuple(kind for item in numba_type if (kind := _kind(item)))
        return Record(items, getattr(numba_type, "instance_class", None))
    return Scalar(numpy_support.as_dtype(numba_type).str[1:])


def _compile(kernel: Kernel[Any, Any]) -> tuple[Kind | None, list[Any]]:
    """Return the type of the result of an entry, and the libraries of it and of its caller."""
    dispatcher = kernel.dispatcher
    argument_types = tuple(map(_numba_type, kernel.kinds))
    dispatcher.compile(argument_types)
    made = dispatcher.overloads[argument_types]
    context = cpu_target.target_context
    caller = context.codegen().create_library(f"caller of {kernel.name}")
    module = caller.create_ir_module(caller.name)
    _write_caller(context, module, kernel, argument_types, made)
    caller.add_ir_module(module)
    return _kind(made.signature.return_type), [made.library, caller]


def _write_caller(
    context: Any, module: Any, kernel: Kernel[Any, Any], argument_types: Any, made: Any
) -> None:
    """Write the function that Python calls: it takes the arguments from slots, and the results."""
    result_type = made.signature.return_type
    function = ir.Function(module, ir.FunctionType(CODE, [WORD.as_pointer(), WORD]), kernel.name)
    builder = ir.IRBuilder(function.append_basic_block())
    slots = _Slots(context, builder, *function.args)
    values = [slots.argument(kind, t) for kind, t in zip(kernel.kinds, argument_types, strict=True)]
    called = context.call_conv.get_function_type(result_type, argument_types)
    callee = ir.Function(module, called, made.fndesc.llvm_func_name)
    given = context.call_conv.call_function(builder, callee, result_type, argument_types, values)
    status, result = given
    with cgutils.if_unlikely(builder, status.is_error):
        builder.ret(status.code)
    if result_type != types.none:
        slots.put(result_type, result)
    builder.ret(CODE(0))


class _Slots:
    """Writes code that reads arguments from the slots one after another, and puts results there."""

    def __init__(self, context: Any, builder: Any, slots: Any, header: Any) -> None:
        self.context, self.builder, self.slots, self.header = context, builder, slots, header
        self.next = self.arrays = 0

    def argument(self, kind: Kind, numba_type: Any) -> Any:
        """Return the value of an argument."""
        if isinstance(kind, Record):
            pairs = zip(kind.items, numba_type, strict=True)
            return self.context.make_tuple(
                self.builder, numba_type, [self.argument(*pair) for pair in pairs]
            )
        if isinstance(kind, Generator):
            return self._generator(numba_type)
        place = self._place()
        if isinstance(kind, Array):
            return self._array(self.builder.load(place), kind, numba_type)
        wanted = self.context.get_data_type(numba_type)
        stored = self.builder.load(self.builder.bitcast(place, wanted.as_pointer()))
        return self.context.data_model_manager[numba_type].from_data(self.builder, stored)

    def _generator(self, numba_type: Any) -> Any:
        """Return a generator of random numbers: the functions that NumPy has for it."""
        made = cgutils.create_struct_proxy(numba_type)(self.context, self.builder)
        source = cgutils.create_struct_proxy(_bit_gen_type)(self.context, self.builder)
        for name in ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double"):
            setattr(source, name, self.builder.load(self._place()))
        made.bit_generator = source._getvalue()
        return made._getvalue()

    def _place(self) -> Any:
        self.next += 1
        return self.builder.gep(self.slots, [WORD(self.next - 1)])

    def _field(self, base: Any, offset: int, field: ir.Type) -> Any:
        place = self.builder.inttoptr(self.builder.add(base, WORD(offset)), field.as_pointer())
        return self.builder.load(place)

    def _array(self, address: Any, kind: Array, numba_type: Any) -> Any:
        """Return an array; leave the function if the object has other items or dimensions."""
        builder, fields = self.builder, self.builder.add(address, self.header)
        items = builder.add(self._field(fields, DESCRIPTION, WORD), self.header)
        flags = builder.and_(self._field(fields, FLAGS, CODE), CODE(CONTIGUOUS_ALIGNED))
        size = int(kind.code[1:])
        same = [
            builder.icmp_signed("==", self._field(fields, DIMENSIONS, CODE), CODE(kind.dimensions)),
            builder.icmp_signed("==", flags, CODE(CONTIGUOUS_ALIGNED)),
            builder.icmp_signed("==", self._field(items, LETTER, BYTE), BYTE(ord(kind.code[0]))),
            builder.icmp_signed("!=", self._field(items, ORDER, BYTE), BYTE(ord(SWAPPED))),
            builder.icmp_signed("==", self._field(items, ITEM_SIZE, WORD), WORD(size)),
        ]
        for each in same:
            with builder.if_then(builder.not_(each), likely=False):
                builder.ret(CODE(BAD_ARGUMENT + self.arrays))
        self.arrays += 1
        lengths = self._field(fields, SHAPE, WORD)
        shape = [self._field(lengths, 8 * axis, WORD) for axis in range(kind.dimensions)]
        strides = [WORD(size)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        array = self.context.make_array(numba_type)(self.context, builder)
        item = self.context.get_data_type(numba_type.dtype)
        arrayobj.populate_array(
            array,
            data=builder.inttoptr(self._field(fields, DATA, WORD), item.as_pointer()),
            shape=cgutils.pack_array(builder, shape, ty=WORD),
            strides=cgutils.pack_array(builder, strides, ty=WORD),
            itemsize=WORD(size),
            meminfo=None,
        )
        return array._getvalue()

    def put(self, numba_type: Any, value: Any) -> None:
        """Write code that stores a result."""
        if isinstance(numba_type, types.BaseTuple):
            for n, item in enumerate(numba_type):
                self.put(item, self.builder.extract_value(value, n))
        elif isinstance(numba_type, types.Array):
            array = self.context.make_array(numba_type)(self.context, self.builder, value)
            for pointer in (array.meminfo, array.data):
                self.builder.store(self.builder.ptrtoint(pointer, WORD), self._place())
            for several in (array.shape, array.strides):
                for one in cgutils.unpack_tuple(self.builder, several, numba_type.ndim):
                    self.builder.store(one, self._place())
        else:
            stored = self.context.data_model_manager[numba_type].as_data(self.builder, value)
            place = self.builder.bitcast(self._place(), stored.type.as_pointer())
            self.builder.store(stored, place)


def _linked(libraries: Iterable[Any], names: Iterable[str]) -> Any:
    """Return one module of all that the libraries have; only the names are seen outside."""
    module = binding.parse_assembly(RUNTIME.read_text(encoding="ascii"))
    module.triple = binding.get_process_triple()
    module.data_layout = cpu_target.target_context.codegen()._data_layout
    public = {*names, RELEASE}
    pending, seen = list(libraries), set()
    while pending:
        library = pending.pop()
        if library in seen:
            continue
        seen.add(library)
        pending += library._linking_libraries
        for function in library._final_module.functions:
            outside = function.linkage == binding.Linkage.external and function.name not in public
            if outside and not function.is_declaration:
                function.linkage = "weak_odr"
        module.link_in(library._final_module)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in public:
            value.linkage = "internal"
    return module


def _object(module: Any, machine: Any) -> bytes:
    """Optimise a module for a machine and return its object file."""
    generator = cpu_target.target_context.codegen()
    generator._tm = machine
    cheap = {"loop_vectorize": False, "slp_vectorize": False, "opt": 0, "cost": "cheap"}
    for options in (cheap, {}):  # as Numba does: much is inlined before references are pruned
        passes, builder = generator._module_pass_manager(**options)
        passes.run(module, builder)
    module.verify()
    declared = {value.name for value in module.functions if value.is_declaration}
    declared |= {value.name for value in module.global_variables if value.is_declaration}
    text = re.sub(r"(?m)^declare .*$", "", str(module))
    used = {quoted or plain for quoted, plain in re.findall(r'@(?:"([^"]*)"|([\w.$-]+))', text)}
    needed = {name for name in declared & used if not name.startswith("llvm.")} - FOREIGN
    if needed:
        raise RuntimeError(f"kernels need {', '.join(sorted(needed))} (expected: C's mathematics)")
    return bytes(machine.emit_object(module))


def _machine(level: str) -> Any:
    """Return the machine for a level of x86-64, or for code that this computer's LLVM loads."""
    options: dict[str, Any] = {"opt": 3}
    generator = cpu_target.target_context.codegen()
    if level == HOST:
        generator._customize_tm_options(options)
    else:
        options |= {"cpu": level, "features": "", "reloc": "pic", "codemodel": "default"}
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(**options)


def sources() -> dict[str, str]:
    """Return the modules that the compiled functions and their constants are from, with hashes."""
    found: set[str] = set()
    for kernel in COMPILED:
        module = kernel.py_func.__module__
        found.add(module)
        for code in _codes(kernel.py_func.__code__):
            for name in code.co_names:
                found.update(_origins(module, name))
    return {module: source_hash(module) for module in sorted(found)}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _origins(module: str, name: str) -> Iterator[str]:
    """Yield the modules through which a module has a name, those of libraries apart."""
    origin, name = _imported(module).get(name, ("", ""))
    if not origin or origin.partition(".")[0] in LIBRARIES:
        return
    inner = f"{origin}.{name}"
    yield inner if inner in sys.modules else origin
    if name and inner not in sys.modules:
        yield from _origins(origin, name)


@cache
def _imported(module: str) -> dict[str, tuple[str, str]]:
    """Return what the names that a module imports stand for: a module, and a name in it."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(Path(str(sys.modules[module].__file__)).read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {name.asname or name.name: (node.module, name.name) for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.asname or name.name: (name.name, "") for name in node.names}
    return found


@contextlib.contextmanager
def _alone(folder: Path, group: str) -> Iterator[None]:
    """Let only one process compile a group, where the platform has locks on files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / f"{group}.lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(group: str, place: str, *levels: str) -> None:
    """Compile a group for machines and keep the objects, unless another process has done so."""
    folder = Path(place)
    with _alone(folder, group):
        missing = [level for level in levels if fitting(group, [folder], level) is None]
        described, codes = compiled(modules_of(group), [_machine(level) for level in missing])
        about = {"sources": sources(), "entries": described}
        for level, code in zip(missing, codes, strict=True):
            write(folder, file_name(group, level), {"machine": machine(level), **about}, code)


_change_numba()
if __name__ == "__main__":
    main(*sys.argv[1:])

"""Errors of a specification, and the wrapper that reports wrong calls as such errors.

A specification calls classes and methods of the loader. Each is wrapped by `checked`: an exception that a wrong
argument causes in the loader's own code becomes a SpecError, which shows how the call is written. Exceptions of the
specification's own code pass unchanged.
"""

import contextlib
import difflib
import functools
import inspect
import math
import numbers
import operator
import reprlib
import struct

# What the loader's code raises for arguments and values of the wrong type, range or size.
WRONG_ARGUMENT = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
                  struct.error)


class SpecError(Exception):
    """An error in the specification. `line` is set for errors found only after the file has run."""

    def __init__(self, message, line=None):
        super().__init__(message)
        self.line = line


class Unsupported(SpecError):
    """Legal, but not representable in NNAPI, or not by this loader."""

    kind = "unsupported"


class NoSuchName(SpecError, AttributeError):
    """A method or attribute that the language does not have."""


def suggestion(word, words):
    close = difflib.get_close_matches(str(word), list(words), 1)
    return f"; did you mean {close[0]}?" if close else ""


class Shortened(reprlib.Repr):
    """Shortens; objects without a text of their own, and functions, are shown by their names: without addresses."""

    def repr_instance(self, x, level):
        if isinstance(x, type) or inspect.isroutine(x):
            return f"<{'class' if isinstance(x, type) else 'function'} {x.__name__}>"
        if type(x).__repr__ is object.__repr__:
            return f"<{type(x).__name__}>"
        return super().repr_instance(x, level)


def show(value):
    """A value for a message: shortened, and safe for objects that cannot be printed."""
    return Shortened().repr(value)


def integer(value, what):
    try:
        return operator.index(value)
    except TypeError:
        raise SpecError(f"{what} is {show(value)}: must be an integer") from None


def number(value, what):
    """A finite number as float. Accepts numpy's, but no text."""
    try:
        found = float(value) if not isinstance(value, (str, bytes)) else math.nan
    except WRONG_ARGUMENT:
        found = math.nan
    if not math.isfinite(found):
        raise SpecError(f"{what} is {show(value)}: must be a finite number")
    return found


def is_number(value):
    return isinstance(value, numbers.Number) and not isinstance(value, complex)


def raised_by_loader(error):
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_globals.get("__name__", "").startswith("halcyon.")


@contextlib.contextmanager
def located(line, what):
    """Errors of the code inside are those of the given line; `what` replaces the text of unforeseen ones."""
    try:
        yield
    except SpecError as error:
        error.line = error.line or line
        raise
    except WRONG_ARGUMENT as error:
        if not raised_by_loader(error):
            raise
        raise SpecError(what, line) from None


def usage_of(name, signature):
    shown = [str(parameter) for parameter in signature.parameters.values() if parameter.name != "self"]
    return f"{name}({', '.join(shown)})"


def argument_error(name, signature, args, kwargs):
    """The error of a call whose arguments do not fit the signature; None if they fit."""
    try:
        signature.bind(*args, **kwargs)
        return None
    except TypeError:
        unknown = [key for key in kwargs if key not in signature.parameters]
        given = len(args) + len(kwargs) - ("self" in signature.parameters)
        what = f"wrong number of arguments, {given}"
        if unknown:
            what = f"unknown argument {unknown[0]}{suggestion(unknown[0], signature.parameters)}"
        return f"{what}: must be {usage_of(name, signature)}"


def wrap(function, owner):
    """A constructor or method whose wrong calls are errors of the specification; owner: the class, if it is static."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except SpecError:
            raise
        except WRONG_ARGUMENT as error:
            if not raised_by_loader(error):
                raise
            name = (owner or type(args[0])).__name__
            name += "" if function.__name__ == "__init__" else f".{function.__name__}"
            message = argument_error(name, signature, args, kwargs)
            usage = usage_of(name, signature)
            raise SpecError(message or f"an argument has a wrong type or value: must be {usage}") from None

    return call


def checked(cls):
    """Class decorator: wraps the constructor and the methods that specifications call, whose names are capitalised."""
    for name, function in list(vars(cls).items()):
        if isinstance(function, staticmethod) and name[0].isupper():
            setattr(cls, name, staticmethod(wrap(function.__func__, cls)))
        elif inspect.isfunction(function) and (name == "__init__" or name[0].isupper()):
            setattr(cls, name, wrap(function, None))
    return cls


class Checked:
    """Base class: wraps all subclasses, and reports unknown methods with a suggestion."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        checked(cls)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        methods = [method for method in dir(type(self)) if method[0].isupper()]
        raise NoSuchName(f"{type(self).__name__} has no method {name}{suggestion(name, methods)}")

# Bounded output: what is caught while it is printed, and what fits into an observation. Shares one namespace with
# repl.py and server.py.
import io

# Characters kept at either end while printing, at least: below this, bookkeeping would cost more than it saves.
KEPT_AT_LEAST = 1 << 16
# Characters looked at in one go, so that measuring or keeping a huge text needs no second copy of it.
PIECE = 1 << 20

text_length = str.__len__
text_is_ascii = str.isascii
text_encode = str.encode
text_slice = str.__getitem__
plain_write = io.StringIO.write
plain_read = io.StringIO.getvalue
plain_tell = io.StringIO.tell
plain_seek = io.StringIO.seek
plain_truncate = io.StringIO.truncate


class Printed:
    """What a statement printed, fitted into the limit."""

    def __init__(self, text, cut):
        self.text = text
        self.cut = cut


def capture(limit):
    """A stream to print to and the function that tells what was printed.

    The stream is an `io.StringIO` in every respect until more has been printed than three times what is kept. From then
    on it forgets the middle: the first part and the last part stay. Its state hides in this function, so it has no
    attribute that `io.StringIO` lacks.
    """
    kept = max(limit, KEPT_AT_LEAST)
    head = None  # the first part, once the middle has been forgotten
    forgotten = 0  # bytes
    room = 3 * kept  # at least so many characters can be written before anything must be forgotten

    def write(self, text, /):
        nonlocal room
        if isinstance(text, str):
            length = text_length(text)
            if length > room:
                return overflow(self, text, length)
            room -= length
        return plain_write(self, text)

    def getvalue(self):
        text = plain_read(self)
        if head is None:
            return text
        return fit(head, forgotten, text, limit)[0].decode("utf-8")

    def overflow(stream, text, length):
        plain_write(stream, "")  # raises what a closed stream raises
        for start in range(0, length, PIECE):
            append(stream, text_slice(text, slice(start, start + PIECE)))
        return length

    def append(stream, piece):
        nonlocal head, forgotten, room
        held = plain_read(stream)
        most = 3 * kept if head is None else 2 * kept
        # Where the code has moved the position back, there is more room than was counted.
        position = min(plain_tell(stream), len(held))
        held = held[:position] + piece + held[position + len(piece):]
        if len(held) <= most:
            plain_write(stream, piece)
        else:
            if head is None:
                head, held, most = held[:kept], held[kept:], 2 * kept
            forgotten += measure(held, 0, len(held) - kept)
            held = held[-kept:]
            plain_seek(stream, 0)
            plain_truncate(stream, 0)
            plain_write(stream, held)
        room = most - len(held)

    # Not by a class statement, which would add names of its own in newer versions of Python.
    stream = type("StringIO", (io.StringIO,), {"__module__": "_io", "write": write, "getvalue": getvalue})()

    def printed():
        text = plain_read(stream)
        return Printed(*(limited(text, limit) if head is None else fit(head, forgotten, text, limit)))

    return stream, printed


def limited(text, limit):
    """A text as UTF-8, fitted into the limit, and the number of bytes cut out of it."""
    length = text_length(text)
    if length <= limit:
        return fit(text, 0, "", limit)
    front = text_slice(text, slice(0, limit))
    back = text_slice(text, slice(max(limit, length - limit), length))
    return fit(front, measure(text, limit, length - limit), back, limit)


def fit(front, middle, back, limit):
    """Joins both ends of a text of which `middle` bytes are gone already; both halves of the limit are used up.

    UTF-8 has no lone surrogates: they become visible as `\\udc80`.
    """
    front = text_encode(front, "utf-8", "backslashreplace")
    back = text_encode(back, "utf-8", "backslashreplace")
    total = len(front) + middle + len(back)
    if not middle:
        front, back = front + back, b""
    if total <= limit:
        return front, 0
    if not middle:
        back = front
    start, end = limit // 2, max(0, len(back) - (limit - limit // 2))
    if start < len(front):
        while start and front[start] & 0xC0 == 0x80:
            start -= 1
    while end < len(back) and back[end] & 0xC0 == 0x80:
        end += 1
    front, back = front[:start], back[end:]
    cut = total - len(front) - len(back)
    return b"%b\n[... %d bytes of output cut out here ...]\n%b" % (front, cut, back), cut


def measure(text, start, end):
    """The size of a part of a text as UTF-8, in bytes."""
    if text_is_ascii(text):
        return max(0, end - start)
    pieces = (text_slice(text, slice(at, min(at + PIECE, end))) for at in range(start, end, PIECE))
    return sum(len(text_encode(piece, "utf-8", "backslashreplace")) for piece in pieces)

"""A file system in user space (FUSE) that passes on to a directory, and answers late or never. It speaks the kernel's protocol itself,
since Python has no library for it."""

import contextlib
import ctypes
import errno
import os
import stat
import struct
import threading
import time
from pathlib import Path

from ground import Fork, Skip
from programs import libc

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, FALLOCATE, RENAME2 = 25, 26, 27, 28, 29, 30, 35, 36, 38, 42, 43, 45
#: What a disk has to do. What is not here a real kernel answers from its memory, too.
DISK = {READ, WRITE, FSYNC, FSYNCDIR, FALLOCATE, CREATE, UNLINK, RENAME, RENAME2, SETATTR, MKDIR, RMDIR}
#: Nobody but the machine changes what it keeps, so it may keep it.
VALID = 3600


def mounted(ground, place, serve, owner=0, options="allow_other,default_permissions"):
    """Mounts it, with a process that serves it: a function of the descriptor."""
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        raise Skip("there is no FUSE here") from None
    text = f"fd={device},rootmode=40755,user_id={owner},group_id={owner}{',' * bool(options)}{options}"
    if libc.mount(b"attack", os.fsencode(place), b"fuse", 6, text.encode()) != 0:  # MS_NOSUID | MS_NODEV
        os.close(device)
        raise Skip(f"FUSE cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    ground.mounted.append(str(place))
    ground.processes.append(Fork(serve, device, user=owner or None))
    os.close(device)


class Passing:
    """Passes on to a directory. While a file exists, nothing that a disk does is answered."""

    def __init__(self, directory, mark):
        self.paths, self.numbers, self.mark = {1: Path(directory)}, {str(directory): 1}, Path(mark)
        self.lock = threading.Lock()

    def serve(self, device):
        while True:
            try:
                request = os.read(device, 1 << 20)
            except InterruptedError:
                continue
            except OSError as error:  # A request went away, or the file system did.
                if error.errno in (errno.ENOENT, errno.EAGAIN):
                    continue
                return
            _, operation, unique, node, user, group = struct.unpack_from("<IIQQII", request)
            if operation in (FORGET, INTERRUPT, BATCH_FORGET):
                continue
            work = (device, operation, unique, node, (user, group), request[40:])
            if operation in DISK and self.mark.exists():
                threading.Thread(target=self.answer_late, args=work, daemon=True).start()
            else:
                self.answer(*work)

    def answer_late(self, *work):
        while self.mark.exists():
            time.sleep(0.02)
        self.answer(*work)

    def answer(self, device, operation, unique, node, who, body):
        try:
            with self.lock:
                error, content = 0, HANDLERS.get(operation, Passing.unknown)(self, node, who, body)
        except OSError as failure:
            error, content = -failure.errno, b""
        with contextlib.suppress(OSError):
            os.write(device, struct.pack("<IiQ", 16 + len(content), error, unique) + content)

    # -------- names and attributes

    def child(self, node, name):
        return self.paths[node] / os.fsdecode(name)

    def entry(self, path):
        found = os.lstat(path)
        number = self.numbers.setdefault(str(path), max(self.paths) + 1)
        self.paths[number] = path
        return struct.pack("<QQQQII", number, 0, VALID, VALID, 0, 0) + self.attributes(found)

    @staticmethod
    def attributes(found):
        times = [int(each) for each in (found.st_atime, found.st_mtime, found.st_ctime)]
        parts = [each % 10**9 for each in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)]
        return struct.pack("<6Q10I", found.st_ino, found.st_size, found.st_blocks, *times, *parts, found.st_mode, found.st_nlink, found.st_uid,
                           found.st_gid, 0, 4096, 0)

    def forget(self, path):
        self.numbers.pop(str(path), None)

    def unknown(self, node, who, body):
        raise OSError(errno.ENOSYS, "")

    def begin(self, node, who, body):
        major, minor, ahead, _ = struct.unpack_from("<IIII", body)
        return struct.pack("<IIIIHHIIHHI7I", 7, min(minor, 31), ahead, 1 << 5, 64, 48, 1 << 17, 1, 32, 0, 0, *[0] * 7)  # FUSE_BIG_WRITES

    def look_up(self, node, who, body):
        return self.entry(self.child(node, body[:-1]))

    def get(self, node, who, body):
        flags, _, file = struct.unpack_from("<IIQ", body)
        found = os.fstat(file) if flags & 1 else os.lstat(self.paths[node])
        return struct.pack("<QII", VALID, 0, 0) + self.attributes(found)

    def set(self, node, who, body):
        valid, _, file, size, _, atime, mtime, _, *_, mode, _, user, group = struct.unpack_from("<IIQQQQQQIIIIIII", body)
        path = self.paths[node]
        if valid & 1:
            os.chmod(path, stat.S_IMODE(mode))
        if valid & 6:
            os.chown(path, user if valid & 2 else -1, group if valid & 4 else -1)
        if valid & 8:
            os.truncate(file if valid & 64 else path, size)
        if valid & 0x30:
            os.utime(path)
        return struct.pack("<QII", VALID, 0, 0) + self.attributes(os.fstat(file) if valid & 64 else os.lstat(path))

    # -------- directories

    def make_directory(self, node, who, body):
        mode, mask = struct.unpack_from("<II", body)
        path = self.child(node, body[8:-1])
        os.mkdir(path, mode & ~mask)
        os.chown(path, *who)
        return self.entry(path)

    def unlink(self, node, who, body):
        path = self.child(node, body[:-1])
        (os.rmdir if path.is_dir() and not path.is_symlink() else os.unlink)(path)
        self.forget(path)
        return b""

    def rename(self, node, who, body, start=8):
        target, = struct.unpack_from("<Q", body)
        old, new = body[start:-1].split(b"\0")
        old, new = self.child(node, old), self.child(target, new)
        os.rename(old, new)
        self.forget(new)
        number = self.numbers.pop(str(old), None)
        if number is not None:
            self.numbers[str(new)], self.paths[number] = number, new
        return b""

    def rename_by_flags(self, node, who, body):
        if struct.unpack_from("<QI", body)[1]:
            raise OSError(errno.EINVAL, "")
        return self.rename(node, who, body, 16)

    def list(self, node, who, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        content = b""
        for number, name in enumerate([".", "..", *sorted(os.listdir(self.paths[node]))]):
            text = os.fsencode(name)
            piece = struct.pack("<QQII", 1, number + 1, len(text), 0) + text
            piece += bytes(-len(piece) % 8)
            if number >= offset and len(content) + len(piece) <= size:
                content += piece
        return content

    # -------- files

    def open(self, node, who, body):
        flags, = struct.unpack_from("<I", body)
        file = os.open(self.paths[node], flags & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND))
        return struct.pack("<QII", file, 0, 0)

    def create(self, node, who, body):
        flags, mode, mask, _ = struct.unpack_from("<IIII", body)
        path = self.child(node, body[16:-1])
        file = os.open(path, flags & ~os.O_APPEND | os.O_CREAT, mode & ~mask)
        os.chown(path, *who)
        return self.entry(path) + struct.pack("<QII", file, 0, 0)

    def read(self, node, who, body):
        file, offset, size = struct.unpack_from("<QQI", body)
        return os.pread(file, size, offset)

    def write(self, node, who, body):
        file, offset, size = struct.unpack_from("<QQI", body)
        return struct.pack("<II", os.pwrite(file, body[40:40 + size], offset), 0)

    def sync(self, node, who, body):
        os.fsync(struct.unpack_from("<Q", body)[0])
        return b""

    def allocate(self, node, who, body):
        file, offset, length, mode = struct.unpack_from("<QQQI", body)
        if mode:
            raise OSError(errno.EOPNOTSUPP, "")
        os.posix_fallocate(file, offset, length)
        return b""

    def close(self, node, who, body):
        os.close(struct.unpack_from("<Q", body)[0])
        return b""

    def statistics(self, node, who, body):
        found = os.statvfs(self.paths[1])
        return struct.pack("<5Q4I24x", found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree, found.f_bsize, 255, found.f_frsize, 0)

    def open_directory(self, node, who, body):
        return bytes(16)

    def nothing(self, node, who, body):
        return b""


HANDLERS = {
    INIT: Passing.begin, LOOKUP: Passing.look_up, GETATTR: Passing.get, SETATTR: Passing.set, MKDIR: Passing.make_directory, UNLINK: Passing.unlink,
    RMDIR: Passing.unlink, RENAME: Passing.rename, RENAME2: Passing.rename_by_flags, OPEN: Passing.open, CREATE: Passing.create, READ: Passing.read,
    WRITE: Passing.write, FSYNC: Passing.sync, FALLOCATE: Passing.allocate, RELEASE: Passing.close, STATFS: Passing.statistics,
    OPENDIR: Passing.open_directory, READDIR: Passing.list, RELEASEDIR: Passing.nothing, FSYNCDIR: Passing.nothing, FLUSH: Passing.nothing,
    DESTROY: Passing.nothing,
}

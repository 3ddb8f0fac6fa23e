import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Preloaded into PostgreSQL: adds the seconds in a file to the clock of the machine. The monotonic clock is unchanged. */
const source = `
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void open_ahead(void) {
  const char *path = getenv("CLOCK_AHEAD_FILE");
  int fd = path ? open(path, O_RDONLY) : -1;
  void *at = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) ahead = at;
  if (fd >= 0) close(fd);
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int result = (int)syscall(SYS_clock_gettime, id, at);
  if (result == 0 && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *ahead;
  return result;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`;

/** A clock for a PostgreSQL that can be moved, also while it runs. */
export class DatabaseClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'latchkey-chaos-clock-'));
  readonly #file = join(this.#folder, 'ahead');
  readonly #library = join(this.#folder, 'clock.so');
  #aheadSeconds = 0;

  /** Null without a C compiler. */
  static create(): DatabaseClock | null {
    const clock = new DatabaseClock();
    try {
      writeFileSync(join(clock.#folder, 'clock.c'), source);
      execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', clock.#library, join(clock.#folder, 'clock.c')]);
    } catch {
      clock.remove();
      return null;
    }
    chmodSync(clock.#folder, 0o755);
    writeFileSync(clock.#file, Buffer.alloc(8), { mode: 0o644 });
    return clock;
  }

  /** Environment of a PostgreSQL with this clock. */
  get env(): Record<string, string> {
    return { LD_PRELOAD: this.#library, CLOCK_AHEAD_FILE: this.#file };
  }

  turn(seconds: number): void {
    this.#aheadSeconds += seconds;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(this.#aheadSeconds));
    const file = openSync(this.#file, 'r+');
    writeSync(file, bytes, 0, 8, 0);
    closeSync(file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

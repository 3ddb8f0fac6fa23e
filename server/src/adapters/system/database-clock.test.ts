import { beforeEach, describe, expect, it } from 'vitest';
import { DatabaseClock } from './database-clock.ts';

let [machine, database] = [0, 0];
let faults: (string | null)[];
let clock: DatabaseClock;
const minutes = 60_000;
const measure = (errorMs = 1) => clock.follow(database - clock.now().getTime(), errorMs);
const off = () => clock.now().getTime() - database;

beforeEach(() => {
  machine = 1_800_000_000_000;
  database = machine;
  faults = [];
  clock = new DatabaseClock(
    (fault) => faults.push(fault),
    () => machine,
  );
});

describe('the clock of a process', () => {
  it.each([5, -5])('agrees with the database on a machine that is %i minutes off, and reports the skew', (ahead) => {
    machine += ahead * minutes;
    expect(measure()).toBe(-ahead * minutes);
    expect(off()).toBe(0);
    expect(clock.fault).toMatch(ahead > 0 ? /300\.0 s ahead of the database's: .*NTP/ : /300\.0 s behind/);
    measure();
    expect(faults).toEqual([clock.fault]);
    // The machine's clock is corrected.
    machine = database;
    measure();
    expect(off()).toBe(0);
    expect(clock.fault).toBeNull();
    expect(faults).toHaveLength(2);
  });

  it('is left alone within the error of the measurement, and follows a slow drift', () => {
    database += 40;
    measure();
    expect(off()).toBe(-40);
    database += 400;
    measure(500);
    expect(off()).toBe(-440);
    measure(5);
    expect(off()).toBe(0);
    for (let step = 0; step < 100; step += 1) {
      database += 900;
      measure();
      expect(off()).toBe(0);
    }
    expect(clock.fault).toMatch(/90\.\d s behind/);
  });

  it('does not follow a jump while the process runs, and reports it', () => {
    measure();
    machine += 5 * minutes;
    measure();
    expect(off()).toBe(5 * minutes);
    expect(clock.fault).toMatch(/ahead of/);
  });

  it('is not a fault within the bound, or if the measurement was slow', () => {
    machine += 29_000;
    measure();
    expect(clock.fault).toBeNull();
    machine = database + 31_000;
    measure(2_000);
    expect(clock.fault).toBeNull();
  });
});

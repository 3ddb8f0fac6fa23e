import type { Change } from './changes.ts';
import { checkpoint } from './checkpoint.ts';
import { type Model, Violation } from './model.ts';
import type { Reply } from './wire.ts';

/** A request, and the check of its reply and of the rows that it changed. */
export interface Held {
  send: () => Promise<Reply>;
  settle: (reply: Reply, changes: Change[]) => unknown;
}
interface Waiting extends Held {
  resolve: (settled: unknown) => void;
  reject: (thrown: unknown) => void;
}

/**
 * Two requests in flight at once, each on its own process. Their replies and changes must be those of one order of the two;
 * which one does not matter.
 */
export class Meeting {
  private readonly waiting: Waiting[] = [];
  private arrived = () => undefined as void;

  constructor(
    private readonly model: Model,
    private readonly script: string[],
    private readonly roots: readonly object[],
  ) {}

  /** Holds a request until the other one arrives. */
  join(held: Held): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...held, resolve, reject });
      this.arrived();
    });
  }

  /** Runs one side until its request is held, or until its end. Returns whether it is held. */
  async gather(side: () => Promise<unknown>): Promise<{ isHeld: boolean; end: Promise<unknown> }> {
    const before = this.waiting.length;
    const isHere = new Promise<void>((resolve) => {
      this.arrived = resolve;
    });
    const end = side();
    end.catch(() => undefined);
    await Promise.race([isHere, end]);
    return { isHeld: this.waiting.length > before, end };
  }

  /** Sends the held requests, and checks them in an order that breaks no rule. @param read the changes of each process */
  async run(read: () => Promise<Change[][]>): Promise<(() => void)[]> {
    const { model, script, waiting } = this;
    const replies = await Promise.all(waiting.map(({ send }) => send()));
    const changes = await read();
    const orders =
      waiting.length === 2
        ? [
            [0, 1],
            [1, 0],
          ]
        : [[0]];
    const restore = checkpoint([model, script, ...this.roots]);
    const { step } = model;
    model.meetingEnd = step + waiting.length - 1;
    const broken: Violation[] = [];
    for (const order of orders) {
      try {
        const settled: unknown[] = [];
        for (const [place, index] of order.entries()) {
          model.step = step + place;
          settled[index] = waiting[index]?.settle(replies[index] as Reply, changes[index] ?? []);
        }
        return waiting.map(
          ({ resolve }, index) =>
            () =>
              resolve(settled[index]),
        );
      } catch (thrown) {
        if (!(thrown instanceof Violation)) throw thrown;
        broken.push(thrown);
        restore();
      }
    }
    const [first, second] = broken;
    for (const { reject } of waiting) reject(first);
    throw new Violation(second ? `${first?.message}\nor, in the other order, ${second.message}` : first?.message);
  }
}

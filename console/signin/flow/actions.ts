import { element, type Page } from '../page.ts';

type Work = () => Promise<void>;
/** `hasDialog`: the action waits for the user, not the network. */
type Waiting = { hasDialog: boolean };

/** Callbacks of each action. */
type Handlers = { onStart: () => void; onError: (error: unknown) => void; onIdle: () => void };

/** Actions of the page, one at a time. The dialog of a passkey ends when the user chooses another action. */
export class Actions {
  readonly #page: Page;
  readonly #handlers: Handlers;
  #abort = new AbortController();
  #last = Promise.resolve();

  constructor(page: Page, handlers: Handlers) {
    this.#page = page;
    this.#handlers = handlers;
  }

  /** Of the action in progress. */
  get signal(): { signal: AbortSignal } {
    return { signal: this.#abort.signal };
  }

  /** Ends the action in progress: the user goes back. */
  abort(): void {
    this.#abort.abort();
  }

  /** Ignored while another action waits for the network, unless that one is aborted. */
  run(work: Work, waiting?: Waiting): void {
    if (this.#page.isWorking && !this.#abort.signal.aborted) return;
    this.#abort.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.#handlers.onStart();
    this.#page.clearProblem();
    this.#last = this.#last.then(async () => {
      if (abort.signal.aborted) return;
      await this.#page.busy(() => work().catch(this.#handlers.onError), waiting);
      this.#handlers.onIdle();
    });
  }

  onSubmit(step: string, work: (submitter: HTMLElement | null) => Promise<void>, waiting?: Waiting): void {
    element<HTMLFormElement>(step).addEventListener('submit', (event) => {
      event.preventDefault();
      this.run(() => work(event.submitter), waiting);
    });
  }
}

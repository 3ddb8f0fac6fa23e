import type { Resource } from '../patch.ts';

/** Elements of a streamed list that the record of a request keeps. */
const maxKept = 50;

/** A resource of which one list is read while it is written. */
export class OpenResource {
  /** @param resource with an empty list, which gets its first elements once they are read, for the record of the request */
  constructor(
    readonly resource: Resource,
    private readonly list: string,
    private readonly batches: () => AsyncIterable<readonly unknown[]>,
  ) {}

  /** The JSON text, in pieces. */
  async *text(): AsyncGenerator<string> {
    let separator = '{';
    for (const [name, value] of Object.entries(this.resource)) {
      yield `${separator}${JSON.stringify(name)}:`;
      separator = ',';
      if (name === this.list) yield* this.listText();
      else yield JSON.stringify(value);
    }
    yield '}';
  }

  private async *listText(): AsyncGenerator<string> {
    let separator = '[';
    for await (const batch of this.batches()) {
      if (batch.length === 0) continue;
      if (separator === '[') this.resource[this.list] = batch.slice(0, maxKept);
      yield `${separator}${JSON.stringify(batch).slice(1, -1)}`;
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  }
}

/** The JSON text of a message with a list of resources, in pieces. @param head the other fields */
export async function* listText(
  head: object,
  list: string,
  resources: readonly (object | OpenResource)[],
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(list)}:[`;
  let separator = '';
  for (const resource of resources) {
    yield separator;
    if (resource instanceof OpenResource) yield* resource.text();
    else yield JSON.stringify(resource);
    separator = ',';
  }
  yield ']}';
}

/** The text of a response, in chunks. Throws beyond `bytes`: no response may be larger. */
export class AnswerText {
  private length = 0;
  private ended = false;

  constructor(
    private readonly pieces: AsyncIterator<string>,
    private readonly limits: { bytes: number },
  ) {}

  get isEnded(): boolean {
    return this.ended;
  }

  /** The next text of at least `size` characters, or the rest. */
  async next(size: number): Promise<string> {
    let chunk = '';
    while (chunk.length < size && !this.ended) {
      const { done, value } = await this.pieces.next();
      if (done) this.ended = true;
      else chunk += value;
    }
    this.length += Buffer.byteLength(chunk);
    if (this.length > this.limits.bytes) throw new Error(`a SCIM response is larger than ${this.limits.bytes} bytes`);
    return chunk;
  }

  /** Ends reading early. */
  async close(): Promise<void> {
    await this.pieces.return?.();
  }
}

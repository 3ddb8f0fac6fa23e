import pg from 'pg';

/** `host:port/database` of a URL, or its socket's folder, without credentials. */
export function placeOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host.startsWith('/') ? host : `${host}:${port}`}/${database}`;
}

/** The driver's client class, whose connections close when `signal` aborts, also those that are being opened; later ones throw. */
export function closedBy(signal: AbortSignal | undefined): typeof pg.Client {
  if (signal === undefined) return pg.Client;
  const closing = signal;
  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      closing.throwIfAborted();
      // The pool makes `password` non-enumerable.
      super({ ...config, password: config.password });
      const { stream } = (this as unknown as { connection: { stream: { destroy(): void } } }).connection;
      const close = (): void => stream.destroy();
      closing.addEventListener('abort', close);
      this.once('end', () => closing.removeEventListener('abort', close));
    }
  } as typeof pg.Client;
}

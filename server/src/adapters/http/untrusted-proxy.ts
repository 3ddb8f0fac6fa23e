import { isPublicAddress } from '../../domain/kernel/network.ts';
import type { Observer } from '../../http/observer.ts';

/** Recognizes a proxy that TRUST_PROXY does not name: then all users share the proxy's address, and its rate limits. */
export class UntrustedProxy {
  /** Its address; null: none was seen. */
  address: string | null = null;
  readonly #onFound: (address: string) => void;

  /** @param onFound called once */
  constructor(onFound: (address: string) => void) {
    this.#onFound = onFound;
  }

  /** Looks at requests while TRUST_PROXY is unset. Anyone may send the header, so only private peers count. */
  observe(): Observer {
    return (req, _res, next) => {
      if (this.address === null && req.headers['x-forwarded-for'] !== undefined)
        this.#consider(req.socket.remoteAddress);
      next();
    };
  }

  #consider(peer = ''): void {
    const address = peer.replace(/^::ffff:/, '');
    if (address === '' || isPublicAddress(address)) return;
    this.address = address;
    this.#onFound(address);
  }
}

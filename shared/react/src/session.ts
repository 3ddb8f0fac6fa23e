/** The signed-in user, as the route `{basePath}/session` of `@latchkey/node` shows them. */
export interface Session<User = { email?: string; email_verified?: boolean; name?: string }> {
  /** The user's stable ID. */
  sub: string;
  /** The result of the back end's `onSignIn`. */
  user: User;
  /** Authentication context class, such as `phr`. */
  acr?: string | undefined;
  amr: string[];
  /** Unix seconds, as are all times here. */
  authTime?: number | undefined;
  /** `authTime`, if the user took part in the sign-in; absent after one by a device key alone. */
  provedAt?: number | undefined;
  signedInAt: number;
  expiresAt: number;
}

export type SessionState =
  | { status: 'loading'; session: undefined }
  | { status: 'signed-in'; session: Session }
  | { status: 'signed-out'; session: undefined };

/** The back end refused, or could not be reached. */
export class SessionError extends Error {
  /** HTTP status; 0: no response. */
  readonly status: number;
  /** The code of the back end, such as `INVALID_GRANT`. */
  readonly code: string | undefined;

  constructor(message: string, status: number, code?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SessionError';
    this.status = status;
    this.code = code;
  }
}

const loading: SessionState = { status: 'loading', session: undefined };
const signedOut: SessionState = { status: 'signed-out', session: undefined };
const channelName = 'latchkey-session';

/** The session of a page with its back end, shared by components and between tabs. */
export class SessionStore {
  private readonly basePath: string;
  private readonly listeners = new Set<() => void>();
  private state: SessionState;
  private channel: BroadcastChannel | undefined;
  /** Forms that must stay until the user has saved recovery codes. */
  private holds = 0;
  /** Number of the last request, and of the last one whose response is shown: an earlier response may be older. */
  private asked = 0;
  private shown = 0;

  constructor(basePath: string, initial?: Session<unknown> | null) {
    this.basePath = basePath;
    this.state = initial === undefined ? loading : stateOf(initial as Session | null);
  }

  readonly get = (): SessionState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** Reads the session now, and when the page is shown or another tab signs in or out. Returns a function that stops this. */
  connect(): () => void {
    const onShown = () => document.visibilityState === 'visible' && this.refreshed();
    document.addEventListener('visibilitychange', onShown);
    this.channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(channelName);
    this.channel?.addEventListener('message', this.refreshed);
    if (this.state === loading) this.refreshed();
    return () => {
      document.removeEventListener('visibilitychange', onShown);
      this.channel?.close();
      this.channel = undefined;
    };
  }

  /** Reads the session. Throws {@link SessionError}, and leaves the state as it is. */
  async refresh(): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    const response = await this.fetch('session');
    const session = (await response.json().catch(() => null)) as Session | null;
    if (this.holds > 0 || asked < this.shown) return;
    this.shown = asked;
    this.set(stateOf(session));
  }

  /**
   * Begins the session for a code. Components are notified when the returned function is called: call it when the form
   * can be removed.
   */
  async begin({
    code,
    codeVerifier,
  }: {
    code: string;
    codeVerifier?: string | undefined;
  }): Promise<() => Promise<void>> {
    this.holds += 1;
    let isHeld = true;
    const release = async () => {
      if (!isHeld) return;
      isHeld = false;
      this.holds -= 1;
      await this.refresh();
    };
    try {
      const body = JSON.stringify({ code, code_verifier: codeVerifier });
      await this.fetch('sign-in', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    } catch (error) {
      isHeld = false;
      this.holds -= 1;
      throw error;
    }
    // Other tabs show no form that must stay.
    this.channel?.postMessage('changed');
    return release;
  }

  /** Ends the session. Returns the address that ends the one at the service. Throws {@link SessionError}. */
  async signOut(): Promise<string> {
    const response = await this.fetch('sign-out', { method: 'POST' });
    const { location = '/' } = (await response.json().catch(() => ({}))) as { location?: string };
    this.asked += 1;
    this.shown = this.asked;
    this.set(signedOut);
    this.channel?.postMessage('changed');
    return location;
  }

  /** Without a response the last state stays: the next visit of the tab tries again. */
  private readonly refreshed = (): void => {
    this.refresh().catch(() => {
      if (this.state === loading) this.set(signedOut);
    });
  };

  private async fetch(route: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${this.basePath}/${route}`, { ...init, credentials: 'same-origin', cache: 'no-store' });
    } catch (cause) {
      throw new SessionError('The back end could not be reached.', 0, undefined, { cause });
    }
    if (response.ok) return response;
    const { code } = (await response.json().catch(() => ({}))) as { code?: string };
    throw new SessionError(`The back end responded with status ${response.status}.`, response.status, code);
  }

  private set(state: SessionState): void {
    if (state.status === this.state.status && JSON.stringify(state) === JSON.stringify(this.state)) return;
    this.state = state;
    for (const listener of [...this.listeners]) listener();
  }
}

function stateOf(session: Session | null): SessionState {
  return session ? { status: 'signed-in', session } : signedOut;
}

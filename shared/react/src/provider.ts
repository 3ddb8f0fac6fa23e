import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from 'react';
import { type Session, SessionStore } from './session.ts';

export interface LatchkeyProviderProps {
  /** The publishable key, `lk_pk_…`. */
  apiKey: string;
  /** Base URL of your Latchkey. */
  baseUrl: string;
  /** Path of the routes of `createLatchkey` in your back end. Default: `/auth`. */
  basePath?: string | undefined;
  /** The session that your server has read; null: signed out. Default: read by the page. */
  initialSession?: Session<unknown> | null | undefined;
  children?: ReactNode;
}

interface Shared {
  apiKey: string;
  baseUrl: string;
  store: SessionStore;
}

const Context = createContext<Shared | undefined>(undefined);

/** Holds the session for the hooks and components inside. The properties of its first rendering count. */
export function LatchkeyProvider(properties: LatchkeyProviderProps): ReactElement {
  const { apiKey, basePath = '/auth', baseUrl, children, initialSession } = properties;
  const [shared] = useState(() => ({ apiKey, baseUrl, store: new SessionStore(basePath, initialSession) }));
  useEffect(() => shared.store.connect(), [shared]);
  return createElement(Context.Provider, { value: shared }, children);
}

export function useLatchkey(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error('Hooks and components of @latchkey/react must be inside <LatchkeyProvider>.');
  return shared;
}

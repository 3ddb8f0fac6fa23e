'use client';
export { SignedIn, type SignedInProps, SignedOut, SignIn, type SignInProps } from './components.ts';
export { type UseSession, type UseSignIn, useSession, useSignIn } from './hooks.ts';
export { LatchkeyProvider, type LatchkeyProviderProps } from './provider.ts';
export { type Session, SessionError, type SessionState } from './session.ts';

import type { Product } from '../../../products/product.ts';
import type { IdTokenAlgorithm } from '../../generated/operations.ts';
import { developmentReturns, developmentUris } from '../development.ts';
import type { ClientKind } from '../kind.ts';

export interface Answers {
  kind: ClientKind;
  /** The product to connect; absent for an application of one's own. */
  product?: Product | undefined;
  /** A SAML application, which has its own form. */
  isSaml?: boolean;
  /** Address of the product, as entered. */
  address: string;
  name: string;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  method: 'CLIENT_SECRET_BASIC' | 'NONE' | 'PRIVATE_KEY_JWT';
  jwks: string;
  /** Of an application with a secret, and of a product. */
  signature: IdTokenAlgorithm;
  pkceOptional: boolean;
  refreshTokens: boolean;
}

export interface StepProps {
  answers: Answers;
  answer(some: Partial<Answers>): void;
}

/** Settings of an application with a secret that most products expect (decisions/0332). */
export const secretDefaults = { signature: 'RS256', pkceOptional: true, refreshTokens: true } as const;

/** The type and the name, for the address of the page: a reload keeps them. */
export function typeIn(parameters: URLSearchParams): { type: string; name: string } | undefined {
  const [type, name] = [parameters.get('type'), parameters.get('name')?.slice(0, 200).trim()];
  return type && name ? { type, name } : undefined;
}

export const typeOf = ({ kind, name, product }: Answers): Record<'type' | 'name', string> => ({
  type: product?.id ?? kind,
  name: name.trim(),
});

/** The answers that depend on the type. Addresses on the developer's machine, unless others have been entered. */
export function answersOf(kind: ClientKind, before?: Answers): Partial<Answers> {
  const own = { kind, isSaml: false, method: kind === 'web-server' ? 'CLIENT_SECRET_BASIC' : 'NONE' } as const;
  if (before && !before.product && before.redirectUris.join() !== developmentUris[before.kind]) return own;
  return {
    ...own,
    ...(before?.product && { ...secretDefaults, name: before.name === before.product.name ? '' : before.name }),
    ...{ product: undefined, address: '', redirectUris: [developmentUris[kind]] },
    postLogoutRedirectUris: developmentReturns(kind),
  };
}

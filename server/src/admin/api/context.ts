import type { EntityManager } from '@mikro-orm/postgresql';
import type { Granter } from '../../domain/admins/admins.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Database } from '../../domain/kernel/database.ts';
import type { Page, PageRequest } from '../../domain/kernel/page.ts';
import type { Scope } from '../../domain/kernel/scope.ts';
import type { Home } from '../../domain/users/identity/home.ts';
import type { Services } from '../../services.ts';
import type { SelfTestStep } from '../directories/self-test.ts';
import type { AdminCaller } from './caller.ts';
import { type Loaders, loadersFor } from './loaders.ts';

/** A mail or SMS in the dev mailbox. */
export interface MailboxMessage {
  id: string;
  at: Date;
  channel: 'mail' | 'sms';
  to: string;
  subject: string | null;
  text: string;
}

/** The dev mailbox, newest first. */
export interface Mailbox {
  list(page: PageRequest): Promise<Page<MailboxMessage>>;
}

/** The services that resolvers call. */
export interface AdminDomain extends Services {
  directoryTest: { run(directory: Home, actor: Actor): Promise<SelfTestStep[]> };
  /** Null if messages are sent. */
  mailbox: Mailbox | null;
}

/** A request, which contains one or more operations. */
export interface AdminRequest {
  caller: AdminCaller;
  /** The caller in the audit log. */
  actor: Actor;
  requestId: string;
  /** Time of the request. */
  now: Date;
  domain: AdminDomain;
  db: Database;
  /** Lets this browser continue a flow of the hosted page. */
  setFlowCookie(flow: string, secret: string): void;
  /** The authorized ones, by their names in the response. */
  operations: Map<string | number, Operation>;
}

export interface Operation {
  scope: Scope;
  context: AdminContext;
}

/** The context of a resolver. */
export interface AdminContext extends AdminRequest {
  /** The project that the operation is about; null: the instance. */
  projectId: string | null;
  /** Reads of this operation. */
  em: EntityManager;
  loaders: Loaders;
}

/** The context of an operation that is always about a project. */
export interface ProjectContext extends AdminContext {
  projectId: string;
}

export function contextOf(request: AdminRequest, projectId: string | null): AdminContext {
  const em = request.db.reader();
  return { ...request, projectId, em, loaders: loadersFor(em, request.domain) };
}

/** The caller as the granter of a role. */
export function granter({ caller, actor }: AdminContext): Granter {
  return { grants: caller.grants, userId: caller.user?.id, expiresAt: caller.expiresAt, actor };
}

/** Drops null values: for inputs that cannot be cleared, null means absent. */
export function withoutNulls<T extends object>(input: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value != null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

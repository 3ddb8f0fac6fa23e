import type { EntityManager } from '@mikro-orm/postgresql';
import type { Delivery } from '../delivery/delivery.ts';
import { chooseLocale, type Locale } from '../delivery/locale.ts';
import type { MessageContent } from '../delivery/wording.ts';
import { contactsOf, isAddress } from '../users/login.ts';
import { languageTagOf } from '../users/profile.ts';
import type { User } from '../users/user.entity.ts';
import type { Flow } from './flow.ts';
import { contextFor } from './recipients.ts';

type Notice = Exclude<MessageContent, { code: string }>;
type WithoutContext<N> = N extends Notice ? Omit<N, 'app' | 'at'> : never;

/** Notifies a user by mail of an action on their account. */
export async function notify(
  flow: Pick<Flow, 'em' | 'deps' | 'caller'>,
  user: User,
  notice: WithoutContext<Notice>,
): Promise<void> {
  const { em, deps, caller } = flow;
  const content = { ...notice, app: caller.client.name, at: deps.clock.now().toISOString() } as Notice;
  const context = contextFor(user);
  await deps.delivery.enqueue(em, {
    projectId: caller.project.id,
    channel: 'mail',
    to: context.mailbox,
    locale: languageOf(user, caller.locale),
    content,
    context,
  });
}

/** Sends a notice to every email address of the user, or to those given, in the language of their profile. */
export async function notifyEverywhere(
  em: EntityManager,
  delivery: Pick<Delivery, 'enqueue'>,
  user: User,
  content: Notice,
  mailboxes: readonly string[] = mailboxesOf(user),
): Promise<void> {
  const { id, project } = user;
  const locale = languageOf(user);
  for (const to of mailboxes) {
    const context = { account: id, mailbox: to };
    await delivery.enqueue(em, { projectId: project.id, channel: 'mail', to, locale, content, context });
  }
}

/** The language of a user's mails: that of their profile, else of their browser. @param browser as in Accept-Language */
export function languageOf({ attributes }: Pick<User, 'attributes'>, browser?: string): Locale {
  return chooseLocale(languageTagOf(attributes), browser);
}

/**
 * All email addresses of the user, the login address first; of a user at home in an organization only that one, since its directory may give
 * addresses of other people.
 */
export function mailboxesOf({
  attributes,
  email,
  organizationId,
  userName,
}: Pick<User, 'attributes' | 'email' | 'organizationId' | 'userName'>): string[] {
  if (organizationId != null) return email == null ? [] : [email];
  const others = contactsOf(attributes, 'emails').flatMap(({ value }) => value ?? []);
  return [...new Set([email ?? userName, ...others].filter(isAddress))];
}

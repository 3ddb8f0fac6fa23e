import type { Visitor } from '../domain/accounts/own/own-change.ts';
import type { OpenInvitation } from '../domain/organizations/invitations/open-invitations.ts';
import { html } from '../http/markup.ts';
import { signInForm, type View } from './view.ts';

/** The page of an invitation's link: explains it, and begins a sign-in with its address. @param visitor signed in with another one */
export function invitationView(
  project: string,
  { organization, email }: OpenInvitation,
  visitor: Visitor | null,
): View {
  const own = visitor && (visitor.user.email ?? visitor.user.userName);
  return (t) => html`<h1>${t('invitationTitle', { organization })}</h1>
    <p class="lead">${t(visitor ? 'invitationOther' : 'signInAs', { address: email })}</p>
    ${own ? html`<p class="hint">${t('consent.as', { address: own })}</p>` : ''}
    ${signInForm(t, project, { login_hint: email })}`;
}

/**
 * The page of a link that is used, revoked, expired or unknown. A member who opens the mail again continues to the account.
 *
 * @param project undefined: none that this host serves
 */
export function noInvitationView(project: string | undefined): View {
  return (t) => html`<h1>${t('invitationGone')}</h1><p class="lead">${t('invitationGoneText')}</p>
    ${project === undefined ? '' : html`<a class="second" href="/account?project=${project}">${t('title')}</a>`}`;
}

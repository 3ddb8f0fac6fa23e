import { Badge, Group } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '../../api.ts';
import {
  AuditEvents,
  PortalLinks,
  type PortalLinksQuery,
  RevokePortalLink,
  SendPortalLink,
} from '../../generated/operations.ts';
import { language, t } from '../../language/language.ts';
import { AddButton } from '../../ui/buttons.tsx';
import { request } from '../../ui/code/show-graphql.tsx';
import { Empty } from '../../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../../ui/feedback/errors.tsx';
import { useAction } from '../../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../../ui/feedback/use-dialog.tsx';
import type { Columns } from '../../ui/lists/data-table.tsx';
import { Pager, useListParams } from '../../ui/lists/list-bar.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { Time } from '../../ui/time.tsx';
import type { OrganizationPartProps } from '../organization-part.ts';
import { RowButton } from '../row-button.tsx';
import { isOpen, type LinkState, linkState } from './link-state.ts';
import { taskNames } from './task-names.ts';

const CreateLink = lazy(async () => ({ default: (await import('./create-link.tsx')).CreateLink }));

type Link = PortalLinksQuery['portalLinks']['edges'][number]['node'];

const badges: Record<LinkState, readonly [label: string, color: string]> = {
  sent: [t('Not opened'), 'note'],
  opened: [t('In progress'), 'note'],
  completed: [t('Completed'), 'good'],
  expired: [t('Expired'), 'bad'],
  revoked: [t('Revoked'), 'neutral'],
};

/** The links by which an IT contact sets the organization up, newest first. */
export function OrganizationPortal({ organization, mayChange }: OrganizationPartProps) {
  const { get } = useListParams();
  const [dialog, { confirm }] = useDialog();
  const [isNew, setNew] = useState(false);
  const sending = useAction(SendPortalLink, [PortalLinks, AuditEvents], t('Link sent'));
  const variables = { organizationId: organization.id, after: get('after') ?? null };
  const { data, failure, reload } = useQuery(PortalLinks, variables, { keep: true, everySeconds: 15 });
  const page = data?.portalLinks;
  if (failure && !page) return <LoadError failure={failure} subject={t('the list of portal links')} retry={reload} />;
  const isUsable = organization.state === 'ACTIVE';
  const now = Date.now();
  const create = (
    <AddButton disabled={!isUsable} onClick={() => setNew(true)}>
      {t('New portal link')}
    </AddButton>
  );
  const actions = (link: Link) => {
    const { id, email } = link;
    if (!isOpen(link, now)) return null;
    return (
      <Group gap={4} wrap="nowrap" display="inline-flex">
        {isUsable && (
          <RowButton
            label={t('Send again: {email}', { email })}
            onClick={() => void sending.run({ id, locale: language })}
          >
            {t('Send again')}
          </RowButton>
        )}
        <RowButton
          color="red"
          label={t('Revoke the link of {email}', { email })}
          onClick={() => confirm(revocation(link))}
        >
          {t('Revoke')}
        </RowButton>
      </Group>
    );
  };
  const columns: Columns<Link> = [
    { header: t('IT contact'), isName: true, width: '26%', cell: ({ email }) => email },
    { header: t('Steps'), cell: ({ can }) => can.map((task) => taskNames[task]).join(', ') },
    {
      header: t('Status'),
      cell: (link) => {
        const [label, color] = badges[linkState(link, now)];
        return <Badge color={color}>{label}</Badge>;
      },
    },
    { header: t('Opened'), cell: ({ usedAt }) => <Time at={usedAt} fallback="–" /> },
    { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Expires'), cell: (link) => (isOpen(link, now) ? <Time at={link.expiresAt} /> : '–') },
    mayChange && { header: '', align: 'end', isPlain: true, cell: actions },
  ];
  return (
    <TableSection
      title={t('Set-up portal')}
      lead={t(
        'A link lets the IT contact of the organization prove its domains and connect its sign-in and directory, without an account.',
      )}
      label={t('Portal links')}
      actions={mayChange && page?.edges.length !== 0 && create}
      columns={columns}
      rows={page?.edges.map(({ node }) => node)}
      skeletonRows={3}
      empty={
        <Empty icon="mail" title={t('No portal links yet')} action={mayChange && create}>
          {t('Send the IT contact a link: they need no account, and you see here how far they are.')}
        </Empty>
      }
    >
      <FormError failure={sending.failure} />
      <Pager pageInfo={page?.pageInfo} />
      {dialog}
      {isNew && (
        <Suspense>
          <CreateLink organization={organization} onClose={() => setNew(false)} />
        </Suspense>
      )}
    </TableSection>
  );
}

const revocation = ({ id, email }: Link): Confirmation => ({
  title: t('Revoke the link of {email}?', { email }),
  effect: <p>{t('The link and the access of the browser that opened it end now. What was set up stays.')}</p>,
  verb: t('Revoke'),
  request: request(RevokePortalLink, { id }),
  invalidates: [PortalLinks, AuditEvents],
  done: t('Link revoked'),
});

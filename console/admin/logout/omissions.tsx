import type { EventRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

/** Logout tokens that were not sent when the directory deactivated or deleted a user, with the reason; nothing if there are none. */
export function Omissions({ events }: { events: readonly EventRowFragment[] }) {
  const path = useProjectPath();
  if (events.length === 0) return null;
  const columns: readonly Column<EventRowFragment>[] = [
    { header: t('User'), isName: true, width: '24%', cell: ({ person }) => person?.name ?? t('an erased user') },
    { header: t('Applications'), cell: ({ detail }) => (detail?.['applications'] as string[] | undefined)?.join(', ') },
    { header: t('Reason'), cell: ({ detail }) => reasonOf(detail?.['reason']) },
    { header: t('Time'), cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <Section
      flush
      title={t('Not sent')}
      lead={t('Users that the directory deactivated or deleted.')}
      actions={
        <>
          <LinkButton to={`${path('events')}?type=logout-delivery.omitted`} size="xs">
            {t('All events')}
          </LinkButton>
          <LinkButton to={path('directory')} size="xs">
            {t('Change the setting')}
          </LinkButton>
        </>
      }
    >
      <DataTable label={t('Logout tokens that were not sent')} columns={columns} rows={events} keyOf={({ id }) => id} />
    </Section>
  );
}

function reasonOf(reason: unknown): string {
  return reason === 'off'
    ? t('Not sent: notifyOnDeactivation is off')
    : t('Not sent: notifyOnDeactivation does not include the base issuer');
}

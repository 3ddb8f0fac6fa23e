import { Button } from '@mantine/core';
import { AuditEvents, CancelUserDeletion, UserAccess, type UserAccessQuery } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { request } from '../../ui/code/show-graphql.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { exactly } from '../../ui/time.tsx';

interface UserDeletionProps {
  user: { id: string; name: string };
  deletion: NonNullable<UserAccessQuery['userAccess']['deletion']>;
  mayChange: boolean;
}

/** The deletion that the user has requested. */
export function UserDeletion({ user, deletion, mayChange }: UserDeletionProps) {
  const [dialog, { confirm }] = useDialog();
  const cancel = () =>
    confirm({
      title: t('Cancel the deletion of {name}?', { name: user.name }),
      effect: <p>{t('The account stays. The user gets a mail.')}</p>,
      verb: t('Cancel deletion'),
      request: request(CancelUserDeletion, { userId: user.id }),
      invalidates: [UserAccess, AuditEvents],
      done: t('Deletion cancelled'),
    });
  return (
    <Section
      title={t('Account deletion')}
      lead={t('The user asked for it on the account page.')}
      actions={
        mayChange && (
          <Button variant="default" onClick={cancel}>
            {t('Cancel deletion')}
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [t('Requested'), exactly(deletion.createdAt)],
          [t('Will be deleted'), exactly(deletion.dueAt)],
        ]}
      />
      {dialog}
    </Section>
  );
}

import { Button } from '@mantine/core';
import { useNavigate } from 'react-router';
import { UpdateOrganization } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { Section } from '../ui/layout/page.tsx';
import { DeleteOrganizationForm } from './delete-organization.tsx';
import type { Organization, OrganizationPartProps } from './organization-part.ts';
import { stale } from './stale.ts';

/** Suspend (reversible) and delete (irreversible). */
export function OrganizationDanger({ organization, mayChange }: OrganizationPartProps) {
  const activating = useAction(UpdateOrganization, stale, t('Saved'));
  const [dialog, { open, confirm }] = useDialog();
  const navigate = useNavigate();
  const path = useProjectPath();
  const isSuspended = organization.state === 'SUSPENDED';
  const activate = () => void activating.run({ input: { id: organization.id, state: 'ACTIVE' } });
  const onDone = () => void navigate(path('organizations'), { replace: true });
  const remove = () =>
    open(t('Delete {name}?', { name: organization.name }), (onClose) => (
      <DeleteOrganizationForm {...{ organization, onDone, onClose }} />
    ));
  return (
    <>
      <Section
        title={isSuspended ? t('Activate') : t('Suspend')}
        lead={
          isSuspended
            ? t('Suspended: its members cannot sign in to it.')
            : t('Its members cannot sign in to it until it is active again.')
        }
        actions={
          mayChange &&
          (isSuspended ? (
            <Button onClick={activate} loading={activating.busy}>
              {t('Activate organization')}
            </Button>
          ) : (
            <SecondaryButton onClick={() => confirm(suspension(organization))}>
              {t('Suspend organization')}
            </SecondaryButton>
          ))
        }
      />
      <Section
        title={t('Delete')}
        tone="danger"
        lead={t('Deletes the organization and its memberships permanently.')}
        actions={
          mayChange && (
            <Button color="red" onClick={remove}>
              {t('Delete organization')}
            </Button>
          )
        }
      />
      {dialog}
    </>
  );
}

const membersOf = ({ memberCount, isMemberCountLimited }: Organization) => atLeast(memberCount, isMemberCountLimited);

const suspension = (organization: Organization): Confirmation => ({
  title: t('Suspend {name}?', { name: organization.name }),
  effect: (
    <p>
      {rich(
        '<strong>{shown}</strong> {count, plural, one {member is} other {members are}} signed out of the organization now. Memberships and roles stay.',
        { shown: membersOf(organization), count: organization.memberCount },
      )}
    </p>
  ),
  verb: t('Suspend organization'),
  request: request(UpdateOrganization, { input: { id: organization.id, state: 'SUSPENDED' } }),
  invalidates: stale,
  done: t('Organization suspended'),
});

import { UpdateOrganization } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { FormError } from '../../ui/feedback/errors.tsx';
import { useAction } from '../../ui/feedback/use-action.ts';
import { Radios } from '../../ui/forms/radios.tsx';
import { Section } from '../../ui/layout/page.tsx';
import type { OrganizationPartProps } from '../organization-part.ts';
import { stale } from '../stale.ts';

const options = {
  OFF: { name: t('Off'), hint: t('Members are added, invited, or come from a directory or connection.') },
  ASK: { name: t('Ask an admin'), hint: t('A request appears under People, to accept or decline.') },
  ON: { name: t('On'), hint: t('They become members with the default roles.') },
} as const;

/** What happens to users whose login address is in a verified domain. */
export function JoinByDomain({ organization, mayChange }: Omit<OrganizationPartProps, 'inProject'>) {
  const { run, busy, failure } = useAction(UpdateOrganization, stale, t('Saved'));
  return (
    <Section
      title={t('Join by domain')}
      lead={t('For users whose login address is in a verified domain, when they sign in by a mail code.')}
    >
      <Radios
        label={t('Join by domain')}
        options={options}
        value={organization.joinByDomain}
        disabled={!mayChange || busy}
        onChange={(joinByDomain) => void run({ input: { id: organization.id, joinByDomain } })}
      />
      <FormError failure={failure} />
    </Section>
  );
}

import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { ListInput } from '../ui/forms/list-input.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import type { SettingsForm } from '../ui/forms/settings-form.ts';
import { SwitchList } from '../ui/forms/switches.tsx';
import { WholeNumber } from '../ui/forms/whole-number.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { FactorValues } from './factor-values.ts';

export const signUps = {
  OPEN: { name: t('Open'), hint: t('The first sign-in with a verified address creates an account.') },
  DOMAINS: { name: t('Certain domains'), hint: t('Only addresses at these mail domains create an account.') },
  APPROVAL: { name: t('With approval'), hint: t('An admin approves each new account.') },
  PROVISIONED_ONLY: {
    name: t('Provisioned only'),
    hint: t('Only users that a directory or an admin created can sign in.'),
  },
} as const;

interface SignUpSectionProps {
  form: SettingsForm<FactorValues>;
  isDisabled: boolean;
}

/** Who may become a user without an admin or a directory. */
export function SignUpSection({ form, isDisabled }: SignUpSectionProps) {
  const { signUp, signUpDomains } = form.values;
  const path = useProjectPath();
  const field = form.field('signUpDomains');
  return (
    <Section title={t('Sign-up')}>
      <Radios label={t('Sign-up')} options={signUps} {...form.field('signUp')} disabled={isDisabled} />
      {signUp === 'APPROVAL' && (
        <>
          <Text>
            <Anchor component={Link} to={path('users/sign-ups')}>
              {t('Review requests')}
            </Anchor>
          </Text>
          <SwitchList of={switches.Project.signUpRequests} form={form} />
          <WholeNumber
            label={t('Requests expire after')}
            hint={t('Applies to new requests.')}
            unit={t('days')}
            bounds={[1, 90]}
            {...form.field('signUpRequestDays')}
          />
        </>
      )}
      {signUp === 'DOMAINS' && (
        <ListInput
          label={t('Domains that may sign up')}
          description={t('*.example.com: all domains below example.com.')}
          placeholder="example.com, *.example.com"
          fold={lowerCase}
          {...field}
          error={field.error ?? (signUpDomains.length === 0 ? t('Without a domain, no one can sign up.') : undefined)}
        />
      )}
      {signUp !== 'PROVISIONED_ONLY' && (
        <>
          <ListInput
            label={t('Blocked domains')}
            description={t('Addresses at these domains, and at those below them, cannot sign up.')}
            placeholder="example.net"
            fold={lowerCase}
            {...form.field('blockedSignUpDomains')}
          />
          <SwitchList of={switches.Project.signUp} form={form} />
        </>
      )}
    </Section>
  );
}

const lowerCase = (text: string) => text.toLowerCase();

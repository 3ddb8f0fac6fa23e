import { useMemo } from 'react';
import {
  AuditEvents,
  IntroducedClients,
  Introductions,
  type IntroductionsQuery,
  ProjectById,
  UpdateProject,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { projectChange } from '../projects/use-project-form.ts';
import { ListInput } from '../ui/forms/list-input.tsx';
import { pick } from '../ui/forms/pick.ts';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { useSettingsForm } from '../ui/forms/settings-form.ts';
import { Section } from '../ui/layout/page.tsx';

type Policy = NonNullable<IntroductionsQuery['project']>;

const documents = {
  OFF: { name: t('None'), hint: t('Only applications that an admin created can sign users in.') },
  DOMAINS: { name: t('Those of certain domains'), hint: t('The document must be at one of these domains.') },
  ANYONE: { name: t('All'), hint: t('The document may be at any public host.') },
} as const;

const registrations = {
  OFF: { name: t('Off'), hint: t('Applications that registered before stay.') },
  TOKEN: { name: t('With an initial access token'), hint: t('Issue tokens below.') },
  OPEN: { name: t('Open'), hint: t('Any program can register. The number of registrations is limited.') },
} as const;

interface Props {
  policy: Policy;
  mayChange: boolean;
}

/** Which applications may introduce themselves. */
export function IntroductionSettings({ policy, mayChange }: Props) {
  const project = useProject();
  const saved = useMemo(
    () =>
      pick(policy, 'clientMetadataDocuments', 'clientMetadataDomains', 'blockedClientDomains', 'clientRegistration'),
    [policy],
  );
  const form = useSettingsForm({
    saved,
    mayChange,
    operation: UpdateProject,
    variables: (edits) => projectChange(project, edits),
    invalidates: [ProjectById, Introductions, IntroducedClients, AuditEvents],
  });
  const { values } = form;
  const domains = form.field('clientMetadataDomains');
  const lacksDomains = values.clientMetadataDocuments === 'DOMAINS' && values.clientMetadataDomains.length === 0;
  return (
    <>
      <Section
        title={t('Metadata documents')}
        lead={t('The client ID is the https address of a document about the application, so its host is verified.')}
      >
        <Radios label={t('Metadata documents')} options={documents} {...form.field('clientMetadataDocuments')} />
        {values.clientMetadataDocuments === 'DOMAINS' && (
          <ListInput
            label={t('Domains of documents')}
            description={t('*.example.com: all domains below example.com.')}
            placeholder="example.com, *.example.com"
            fold={lowerCase}
            {...domains}
            error={domains.error ?? (lacksDomains ? t('Without a domain, none is accepted.') : undefined)}
          />
        )}
      </Section>
      <Section
        title={t('Registration')}
        lead={t('For applications that register themselves (RFC 7591). Prefer metadata documents.')}
      >
        <Radios label={t('Registration')} options={registrations} {...form.field('clientRegistration')} />
      </Section>
      <Section title={t('Blocked domains')} lead={t('Blocks applications at these domains, and at those below them.')}>
        <ListInput
          label={t('Blocked domains')}
          description={t('Their tokens end immediately.')}
          placeholder="example.net"
          fold={lowerCase}
          {...form.field('blockedClientDomains')}
        />
      </Section>
      <SaveBar form={form} labels={labels} describe={describe} isInvalid={lacksDomains} />
    </>
  );
}

const lowerCase = (text: string) => text.toLowerCase();

const labels = {
  clientMetadataDocuments: t('Metadata documents'),
  clientMetadataDomains: t('Domains of documents'),
  blockedClientDomains: t('Blocked domains'),
  clientRegistration: t('Registration'),
};

function describe(name: keyof typeof labels, from: Omit<Policy, 'id'>): string | string[] {
  if (name === 'clientMetadataDocuments') return documents[from.clientMetadataDocuments].name;
  if (name === 'clientRegistration') return registrations[from.clientRegistration].name;
  return from[name];
}

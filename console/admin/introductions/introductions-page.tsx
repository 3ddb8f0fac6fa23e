import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Introductions } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page } from '../ui/layout/page.tsx';
import { IntroducedList } from './introduced-list.tsx';
import { IntroductionSettings } from './introduction-settings.tsx';
import { RegistrationTokens } from './registration-tokens.tsx';

/** Applications that no admin created, and which of them the project accepts. */
export function IntroductionsPage() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useQuery(Introductions, { projectId: project.id });
  const policy = data?.project;
  return (
    <Page
      title={t('Introduced applications')}
      lead={t(
        'Applications that introduced themselves, such as MCP clients and other agents. Users decide what each may do.',
      )}
      back={{ to: path('applications'), label: t('Applications') }}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <IntroducedList mayChange={mayChange} />
      {failure && !data && <LoadError failure={failure} subject={t('the settings')} retry={reload} />}
      {policy && <IntroductionSettings policy={policy} mayChange={mayChange} />}
      {policy?.clientRegistration !== 'OFF' && (
        <RegistrationTokens tokens={data?.registrationTokens} mayChange={mayChange} />
      )}
    </Page>
  );
}

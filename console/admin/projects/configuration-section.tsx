import { useState } from 'react';
import { send } from '../api.ts';
import type { Failure } from '../failure.ts';
import { ProjectConfiguration } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { saveFile } from '../ui/files/save-file.ts';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { Project } from './project.tsx';

/** Downloads the file that `latchkey plan` and `latchkey apply` read. For admins of the project. */
export function ConfigurationSection({ project }: { project: Project }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { projectConfiguration } = await send(ProjectConfiguration, { projectId: project.id });
      saveFile(`${project.slug}.yaml`, projectConfiguration, 'application/yaml');
      toast(t('Download started'));
    } catch (error) {
      setFailure(error as Failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section
      title={t('Configuration as code')}
      lead={t('YAML for latchkey plan and apply. Contains webhook addresses, but no keys or secrets.')}
      actions={
        <SecondaryButton leftSection={<Icon name="download" size={16} />} loading={busy} onClick={() => void save()}>
          {t('Export as code')}
        </SecondaryButton>
      }
    >
      <FormError failure={failure} />
    </Section>
  );
}

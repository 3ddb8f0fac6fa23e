import type { ReactNode } from 'react';
import { useAccess } from '../access.tsx';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { Tabs } from '../ui/layout/tabs.tsx';

/** The head of the pages about all organizations of a project. @param actions for admins */
export function OrganizationsFrame({ actions, children }: { actions: ReactNode; children: ReactNode }) {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const tabs = [
    { to: path('organizations'), label: t('Organizations'), end: true },
    { to: path('organizations/roles'), label: t('Roles') },
  ];
  return (
    <Page
      title={t('Organizations')}
      lead={t('Customers of {name}, each with its own members and rules', { name: project.name })}
      actions={mayChange && project.organizationsEnabled && actions}
    >
      {project.organizationsEnabled ? (
        <>
          <Tabs label={t('Sections')} tabs={tabs} />
          {!mayChange && <ViewerNotice project={project} />}
          {children}
        </>
      ) : (
        <SwitchedOff mayChange={mayChange} />
      )}
    </Page>
  );
}

/** Reached by a link only: the navigation leaves the page out. */
function SwitchedOff({ mayChange }: { mayChange: boolean }) {
  const path = useProjectPath();
  return (
    <Section flush>
      <Empty
        icon="building"
        title={t('This project has no organizations')}
        action={mayChange && <LinkButton to={path('settings')}>{t('Open settings')}</LinkButton>}
      >
        {t('Switch them on in the settings of the project.')}
      </Empty>
    </Section>
  );
}

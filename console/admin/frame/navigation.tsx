import { useEffect, useId, useState } from 'react';
import { NavLink, useLocation, useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { ProjectById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { recentProjects } from '../projects/recent.ts';
import { settings } from '../settings.ts';
import { Icon } from '../ui/icon.tsx';
import styles from './navigation.module.css';
import { instancePlaces, type NavGroup, type Place, projectPlaces } from './places.ts';

/** The project in the URL, else the last one visited. */
export function useCurrentProjectId(): string | undefined {
  const { projectId } = useParams();
  const { pathname } = useLocation();
  const [last, setLast] = useState(() => projectId ?? recentProjects()[0]?.id);
  useEffect(() => {
    if (projectId !== undefined) setLast(projectId);
    else if (!recentProjects().some(({ id }) => id === last)) setLast(recentProjects()[0]?.id);
  }, [projectId, last, pathname]);
  return projectId ?? last;
}

/** Pages of the instance that the role may open. */
export function useInstancePlaces(): Place[] {
  const { isOwner } = useAccess();
  return instancePlaces({ isOwner, hasDevMailbox: settings.hasDevMailbox });
}

/** Pages of the project; none without a project. */
export function useProjectPlaces(projectId: string | undefined): NavGroup[] {
  const id = projectId ?? '';
  const project = useQuery(ProjectById, { id }, { pause: !projectId }).data?.project;
  return projectId ? projectPlaces(projectId, project?.id === id && project.organizationsEnabled) : [];
}

interface NavigationProps {
  projectId: string | undefined;
  /** Also lists the pages of the instance: the drawer of a narrow screen has no logo menu. */
  hasInstance?: boolean;
  onGo?: () => void;
}

/** Pages of the project; without a project, those of the instance. */
export function Navigation({ projectId, hasInstance = false, onGo }: NavigationProps) {
  const instance: NavGroup = { label: t('Instance'), places: useInstancePlaces() };
  const groups = useProjectPlaces(projectId);
  if (hasInstance || !projectId) groups.push(instance);
  return (
    <nav className={styles.nav} aria-label={t('Console')}>
      {groups.map((group) => (
        <NavigationList key={group.label} {...group} onGo={onGo} />
      ))}
      <p className={styles.label}>Latchkey {settings.version}</p>
    </nav>
  );
}

/** Links to pages, below a heading. */
export function NavigationList({ label, places, onGo }: NavGroup & { onGo?: (() => void) | undefined }) {
  const id = useId();
  return (
    <div className={styles.group}>
      <p className={styles.label} id={id}>
        {label}
      </p>
      <ul aria-labelledby={id}>
        {places.map(({ to, label: name, icon }) => (
          <li key={to}>
            <NavLink
              to={to}
              end={to === '/projects'}
              className={styles.link ?? ''}
              {...(onGo ? { onClick: onGo } : {})}
            >
              <Icon name={icon} size={18} />
              {name}
            </NavLink>
          </li>
        ))}
      </ul>
    </div>
  );
}

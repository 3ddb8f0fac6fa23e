import { useEffect, useState } from 'react';
import { NavLink, useLocation, useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { recentProjects } from '../projects/recent.ts';
import { settings } from '../settings.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import styles from './navigation.module.css';

interface Place {
  to: string;
  label: string;
  icon: IconName;
}

export interface NavGroup {
  label: string;
  places: readonly Place[];
}

/** The project in the URL, else the last one visited. */
export function useCurrentProjectId(): string | undefined {
  const { projectId } = useParams();
  const { pathname } = useLocation();
  const [last, setLast] = useState(() => recentProjects()[0]?.id);
  useEffect(() => {
    if (projectId !== undefined) setLast(projectId);
    else if (!recentProjects().some(({ id }) => id === last)) setLast(recentProjects()[0]?.id);
  }, [projectId, last, pathname]);
  return projectId ?? last;
}

/** All pages that the role may open. */
export function useNavItems(projectId: string | undefined): NavGroup[] {
  const { isOwner } = useAccess();
  const instance: Place[] = [{ to: '/projects', label: 'Projects', icon: 'projects' }];
  if (isOwner) {
    instance.push(
      { to: '/team', label: 'Team & roles', icon: 'team' },
      { to: '/audit', label: 'Audit', icon: 'events' },
      { to: '/keys', label: 'Signing keys', icon: 'lock' },
      { to: '/system', label: 'System', icon: 'server' },
    );
    if (settings.hasDevMailbox) instance.push({ to: '/mailbox', label: 'Dev mailbox', icon: 'mail' });
  }
  if (projectId === undefined) return [{ label: 'Instance', places: instance }];
  const at = (path: string) => `/projects/${projectId}/${path}`;
  return [
    { label: 'Instance', places: instance },
    {
      label: 'Project',
      places: [
        { to: at('overview'), label: 'Overview', icon: 'overview' },
        { to: at('applications'), label: 'Applications', icon: 'applications' },
      ],
    },
    {
      label: 'People',
      places: [
        { to: at('users'), label: 'Users', icon: 'users' },
        { to: at('groups'), label: 'Groups', icon: 'groups' },
        { to: at('directory'), label: 'Directory sync', icon: 'directory' },
      ],
    },
    {
      label: 'Sign-in',
      places: [
        { to: at('experience'), label: 'Branding', icon: 'brush' },
        { to: at('factors'), label: 'Sign-in & MFA', icon: 'shield' },
        { to: at('session-policy'), label: 'Session policy', icon: 'clock' },
      ],
    },
    {
      label: 'Activity',
      places: [
        { to: at('events'), label: 'Events', icon: 'events' },
        { to: at('messages'), label: 'Messages', icon: 'mail' },
        { to: at('logout-deliveries'), label: 'Logout deliveries', icon: 'external' },
      ],
    },
    {
      label: 'Administration',
      places: [
        { to: at('team'), label: 'Project team', icon: 'team' },
        { to: at('settings'), label: 'Settings', icon: 'settings' },
      ],
    },
  ];
}

export function Navigation({ projectId, onGo }: { projectId: string | undefined; onGo?: () => void }) {
  const groups = useNavItems(projectId);
  return (
    <nav className={styles.nav} aria-label="Console">
      {groups.map(({ label, places }) => (
        <div key={label} className={styles.group}>
          <p className={styles.label} id={`nav-${label}`}>
            {label}
          </p>
          <ul aria-labelledby={`nav-${label}`}>
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
      ))}
    </nav>
  );
}

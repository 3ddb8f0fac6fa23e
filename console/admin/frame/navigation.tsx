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
  const at = (path: string, label: string, icon: IconName): Place => ({
    to: `/projects/${projectId}/${path}`,
    label,
    icon,
  });
  return [
    { label: 'Instance', places: instance },
    {
      label: 'Project',
      places: [
        at('overview', 'Overview', 'overview'),
        at('applications', 'Applications', 'applications'),
        at('apis', 'APIs', 'server'),
      ],
    },
    {
      label: 'People',
      places: [
        at('users', 'Users', 'users'),
        at('groups', 'Groups', 'groups'),
        at('directory', 'Directory sync', 'directory'),
      ],
    },
    {
      label: 'Sign-in',
      places: [
        at('experience', 'Branding', 'brush'),
        at('factors', 'Sign-in & MFA', 'shield'),
        at('session-policy', 'Session policy', 'clock'),
      ],
    },
    {
      label: 'Activity',
      places: [
        at('events', 'Events', 'events'),
        at('messages', 'Messages', 'mail'),
        at('webhooks', 'Webhooks', 'code'),
        at('logout-deliveries', 'Logout deliveries', 'external'),
      ],
    },
    {
      label: 'Administration',
      places: [at('team', 'Project team', 'team'), at('settings', 'Settings', 'settings')],
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

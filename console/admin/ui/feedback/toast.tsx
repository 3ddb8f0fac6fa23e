import { notifications } from '@mantine/notifications';
import { t } from '../../language/language.ts';
import { Icon } from '../icon.tsx';

/** Shows a success message, announced by the live region of the frame. Errors are shown inline instead. */
export function toast(message: string): void {
  notifications.show({
    message,
    icon: <Icon name="check" size={18} />,
    role: 'presentation',
    withBorder: true,
    style: { pointerEvents: 'none' },
    closeButtonProps: { 'aria-label': t('Dismiss') },
  });
}

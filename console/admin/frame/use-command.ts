import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';

/**
 * Passes a command of the palette to the page, once. It travels in the state of the navigation, not in the URL: a link
 * from elsewhere cannot open a dialog.
 */
export function useCommand(run: (command: string) => void): void {
  const { state, pathname, search, key } = useLocation();
  const navigate = useNavigate();
  const command = (state as { command?: string } | null)?.command;
  // The location stays until the router has replaced it.
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (command === undefined || handled.current === key) return;
    handled.current = key;
    void navigate(pathname + search, { replace: true, state: null, preventScrollReset: true });
    run(command);
  }, [command, run, navigate, pathname, search, key]);
}

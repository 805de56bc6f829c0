// The console's page. It only contacts its own server, and shows feeds' content as text.

import { render } from 'preact'
import { Console } from './app.tsx'

render(<Console />, document.getElementById('console')!)

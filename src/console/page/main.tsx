// The page of the console: what runs in a browser. It asks nothing but the server that sent it, and
// shows what feeds say as text alone.

import { render } from 'preact'
import { Console } from './app.tsx'

render(<Console />, document.getElementById('console')!)

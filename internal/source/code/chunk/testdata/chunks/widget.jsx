'use strict'

const React = require('react')

function Button({ label, onClick }) {
  const handle = () => onClick(label)
  return (
    <button className="a {" onClick={handle}>
      {label} isn't {'}'}
    </button>
  )
}

class Panel extends React.Component {
  state = { open: false }
  static defaults = { size: 1 }

  toggle = () => this.setState({ open: !this.state.open })

  async componentDidMount() {
    await fetch(`/api/${this.props.id}`)
  }

  get title() { return 'x' }

  render() {
    return <Button label={`a ${'}'}`} />
  }
}

var legacy = function () {}
Panel.prototype.refresh = function refresh(force) {
  return force
}
exports.connect = (url) => url
module.exports = { Button, Panel }

;(function () {
  function hidden() { return 1 }
  window.hidden = hidden
})()
